package leadermigration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

const checkLockLong = `Check the lock's configurations of one cluster, through all the releases that its managers had or
will have.

Each release of a manager is given by --kcm or --ccm as VERSION=FILE, or in place of the file
  default   armed with --enable-leader-migration, without --leader-migration-config
  off       not armed
A file whose name is one of these words is given as ./off. A hand-over alone can be written
  check --from VERSION --to VERSION KCM_FILE [CCM_FILE]
where one file is that of both managers.

`

// checkedLock is what check writes as yaml or json.
type checkedLock struct {
	Errors     int                         `json:"errors"`
	Warnings   int                         `json:"warnings"`
	Violations []leadermigration.Violation `json:"violations"`
}

type checkFlags struct {
	kcm, ccm, apiServers []string
	from, to             string
	cluster              leadermigration.Cluster
}

func checkLockCommand(output *string) *cobra.Command {
	var flags checkFlags
	command := &cobra.Command{
		Use:   "check --kcm VERSION=FILE... --ccm VERSION=FILE... | check --from VERSION --to VERSION KCM_FILE [CCM_FILE]",
		Short: "Check the lock's configurations of one cluster through its releases.",
		Long:  checkLockLong + leaderMigrationLong,
		Example: "  ccm-migration-controller leader-migration check --kcm 1.29.3=kcm.yaml --kcm 1.30.1=off --ccm 1.30.1=ccm.yaml " +
			"--apiserver 1.30.1\n" +
			"  ccm-migration-controller leader-migration check --from 1.25 --to 1.26 --provider aws lock.yaml",
		Args: terminal.UsageArguments(cobra.MaximumNArgs(2)),
		RunE: func(command *cobra.Command, args []string) error {
			cluster, violations, err := flags.read(args)
			if err != nil {
				return err
			}
			violations = append(violations, leadermigration.Check(cluster)...)
			if *output == "text" {
				err = writeChecked(command.OutOrStdout(), violations)
			} else {
				errs, warnings := count(violations)
				err = terminal.Write(command.OutOrStdout(), *output, checkedLock{errs, warnings, violations}, nil)
			}
			return errors.Join(err, verdict(violations))
		},
	}
	set := command.Flags()
	set.StringArrayVar(&flags.kcm, "kcm", nil, "release of KCM and its file, as VERSION=FILE; may be repeated")
	set.StringArrayVar(&flags.ccm, "ccm", nil, "release of CCM and its file, as VERSION=FILE; may be repeated")
	set.StringArrayVar(&flags.apiServers, "apiserver", nil, "release of kube-apiserver; may be repeated; without any, skew is "+
		"not judged")
	set.StringArrayVar(&flags.cluster.OtherLeases, "lease", nil,
		"another Lease in the namespace of the lock, such as a main lock that was renamed; may be repeated")
	set.StringVar(&flags.cluster.Provider, "provider", "", "provider, as in KCM's --cloud-provider; without it, it is not judged")
	set.BoolVar(&flags.cluster.InPlace, "in-place", false, "the hand-over is meant to happen within one minor: rules against "+
		"that only warn")
	set.StringVar(&flags.from, "from", "", "release of KCM with the first file")
	set.StringVar(&flags.to, "to", "", "release of CCM with the last file")
	return command
}

// read reads the files. Those that a version does not read are violations.
func (f *checkFlags) read(files []string) (leadermigration.Cluster, []leadermigration.Violation, error) {
	cluster := f.cluster
	cluster.InPlace = cluster.InPlace || f.withinOneMinor()
	for _, text := range f.apiServers {
		version, err := readVersion("--apiserver", text)
		if err != nil {
			return cluster, nil, err
		}
		cluster.APIServers = append(cluster.APIServers, version)
	}
	releases, err := f.releases(files)
	if err != nil {
		return cluster, nil, err
	}
	violations := []leadermigration.Violation{} // A list, for readers of yaml and json.
	for _, r := range releases {
		configuration, objections, err := r.read()
		if err != nil {
			return cluster, nil, err
		}
		if violations = append(violations, objections...); len(objections) == 0 {
			cluster.Configurations = append(cluster.Configurations, configuration)
		}
	}
	return cluster, violations, nil
}

// givenRelease is a manager and VERSION=FILE.
type givenRelease struct {
	manager leadermigration.Component
	text    string
}

func (f *checkFlags) releases(files []string) ([]givenRelease, error) {
	var releases []givenRelease
	for _, text := range f.kcm {
		releases = append(releases, givenRelease{leadermigration.KCM, text})
	}
	for _, text := range f.ccm {
		releases = append(releases, givenRelease{leadermigration.CCM, text})
	}
	handOver := f.from+f.to != "" || len(files) > 0
	switch {
	case !handOver && len(releases) == 0:
		return nil, terminal.UsageError(errors.New("nothing to check: give --kcm and --ccm, or --from, --to and a file"))
	case !handOver:
		return releases, nil
	case len(releases) > 0:
		return nil, terminal.UsageError(errors.New("give either --from, --to and files, or --kcm and --ccm"))
	case f.from == "" || f.to == "" || len(files) == 0:
		return nil, terminal.UsageError(errors.New("--from and --to go together with one or two files"))
	}
	return []givenRelease{
		{leadermigration.KCM, f.from + "=" + files[0]}, {leadermigration.CCM, f.to + "=" + files[len(files)-1]},
	}, nil
}

// withinOneMinor says that --from and --to name a hand-over within one minor.
func (f *checkFlags) withinOneMinor() bool {
	from, errFrom := leadermigration.ParseVersion(f.from)
	to, errTo := leadermigration.ParseVersion(f.to)
	return errFrom == nil && errTo == nil && from.Minor == to.Minor
}

func (r givenRelease) read() (configuration leadermigration.Configuration, objections []leadermigration.Violation, err error) {
	number, file, found := strings.Cut(r.text, "=")
	if !found || file == "" {
		return configuration, nil, terminal.UsageError(fmt.Errorf("%q is not of the form VERSION=FILE", r.text))
	}
	version, err := leadermigration.ParseVersion(number)
	if err != nil {
		return configuration, nil, terminal.UsageError(err)
	}
	switch file {
	case "off":
		return leadermigration.Configuration{Manager: r.manager, Version: version}, nil, nil
	case "default":
		configuration, objections = leadermigration.ReadNothing(r.manager, version)
		return configuration, objections, nil
	}
	content, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return configuration, nil, fmt.Errorf("read the file of %s %s: %w", r.manager, version, err)
	}
	configuration, objections = leadermigration.Read(r.manager, version, content)
	return configuration, objections, nil
}
