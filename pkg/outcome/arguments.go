package outcome

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// ArgumentChange changes flags of a Deployment's container and leaves all others as they are.
type ArgumentChange struct {
	Target        observation.Ref
	Container     string
	InUserCluster bool
	// Set flags, in order. A flag that is there keeps its place and its spelling.
	Set []Flag
	// Remove flags by name.
	Remove []string
	// Mount a file of ours into the container. It stays until a change unmounts it.
	Mount *MountedFile
	// Unmount takes that file out again.
	Unmount bool
}

// MountedFile is a ConfigMap of ours with one file, mounted as a folder.
type MountedFile struct {
	// Volume and ConfigMap are names; the ConfigMap is in the Deployment's namespace.
	Volume    string
	ConfigMap string
	// Folder it is mounted at, Key the file's name in it.
	Folder string
	Key    string
	Data   string
}

// Flag is one flag of a command line.
type Flag struct {
	// Name with its dashes, as it is written when it is not there yet.
	Name  string
	Value string
}
