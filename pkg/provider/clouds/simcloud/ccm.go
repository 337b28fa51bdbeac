package simcloud

import (
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// images have a host name that marks them: the testbed's kubelet runs them as processes.
const images = "registry.example/simcloud/"

func ccm(in manifest.RenderInput, tag string, minor int) (manifest.Set, error) {
	const name, folder, file = "cloud-controller-manager", "/etc/cloud", "cloud.conf"
	return manifest.CCM{
		Provider: Name, Name: name, Identity: Profile{}.Identity(), Image: manifest.ImageOf(images+name, tag),
		LibraryMinor: minor, ConfigFile: folder + "/" + file,
		Secrets: []manifest.Secret{{
			Name: "cloud-config", Data: map[string][]byte{file: cloudConf(in.CloudConfig)}, MountPath: folder,
		}},
		User: 65532, PodNetwork: true,
	}.Set(in, tag)
}

// cloudConf is the file that CCM, KCM and the machine-controller of the testbed read: lines of key=value.
func cloudConf(data map[string][]byte) []byte {
	var file strings.Builder
	for _, key := range requiredKeys() {
		file.WriteString(key + "=" + value(data, key) + "\n")
	}
	return []byte(file.String())
}
