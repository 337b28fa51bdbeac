package supportbundle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

const help = `Writes one archive with what a maintainer needs to understand a problem with a Cluster: the Cluster and the objects
that belong to it, its events, the manager's Deployment, logs and metrics, and what status, why, handover, inventory and
plan print. README.md in it lists each file, what could not be read and why, and what is left out. It changes no object. For the
metrics it asks for a token of a ServiceAccount that may read them and nothing else, for ten minutes, and forwards a port.

What looks like a secret is replaced, with the values of all variables of containers. Then the finished archive is searched for
the values of the Secrets that the Cluster refers to, as far as you may read them: if one is in it, nothing is written. Look
through the archive all the same before you give it away: it has the names of your objects, Nodes and networks.

Exit codes: 0, 1 when something could not be read (the archive is written without it), 2 when the file exists or a value of a
Secret is in the archive.`

type options struct {
	management.Access
	allow             usercluster.Allow
	outputFile        string
	managerNamespace  string
	noPlan            bool
	leaveOut          []string
	logLines          int64
	flags             *pflag.FlagSet
	root              func() *cobra.Command
	progress, results io.Writer
}

// Command writes a support bundle. It calls other commands by their lines, each time of a root of its own.
func Command(root func() *cobra.Command) *cobra.Command {
	o := &options{root: root}
	command := &cobra.Command{
		Use:   "support-bundle NAME",
		Short: "Writes an archive for a maintainer: objects, logs, metrics, plan and timeline, without secrets.",
		Long:  help,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			o.flags = command.Flags()
			o.progress = terminal.Output{Writer: command.ErrOrStderr()}
			o.results = terminal.Output{Writer: command.OutOrStdout()}
			return o.run(command.Context(), args[0])
		},
	}
	flags := command.Flags()
	o.Bind(flags)
	management.BindAllow(flags, &o.allow, management.Loopback()...)
	flags.StringVar(&o.outputFile, "output-file", "", "Path of the archive, which may not exist; default is "+
		"support-bundle-NAMESPACE-NAME-TIME.tar.gz.")
	flags.StringVar(&o.managerNamespace, "manager-namespace", "ccm-migration-system", "Namespace of the manager.")
	flags.BoolVar(&o.noPlan, "no-plan", false, "Leave the user cluster alone: only the plan asks it.")
	flags.StringSliceVar(&o.leaveOut, "leave-out", nil, "Files of the archive to leave out, as README.md of one names them.")
	flags.Int64Var(&o.logLines, "log-lines", 5000, "How many of the last lines of each log to take.")
	return command
}

func (o *options) run(ctx context.Context, name string) error {
	if o.logLines <= 0 {
		return terminal.UsageError(fmt.Errorf("--log-lines is %d; it has to be positive", o.logLines))
	}
	config, err := o.RESTConfig(management.Timeout)
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connect to the management cluster: %w", err)
	}
	cluster, c, err := o.Cluster(ctx, name)
	if err != nil {
		return err
	}
	r := &reader{client: c, core: clientset.CoreV1(), config: config, cluster: cluster}
	return o.collect(ctx, r, time.Now())
}

// collect everything, and write it where it is clean.
func (o *options) collect(ctx context.Context, r *reader, now time.Time) error {
	cluster := r.cluster
	folder := fmt.Sprintf("support-bundle-%s-%s-%s", cluster.Namespace, cluster.Name, now.UTC().Format("20060102T150405Z"))
	o.outputFile = cmp.Or(o.outputFile, folder+".tar.gz")
	if _, err := os.Lstat(o.outputFile); err == nil {
		return o.exists()
	}
	r.managerNamespace, r.logLines = o.managerNamespace, o.logLines
	r.bundle = &bundle{redactor: newRedactor(), leaveOut: o.leaveOut, progress: o.progress, files: map[string]file{}}
	r.objects(ctx)
	r.manager(ctx)
	o.printed(ctx, r.bundle, cluster)
	archive, scanned, err := r.finish(ctx, folder, now)
	if err != nil {
		return err
	}
	return o.write(r.bundle, archive, scanned)
}

func (o *options) exists() error {
	return terminal.UsageError(fmt.Errorf("%s exists already; name another file by --output-file", o.outputFile))
}

// printed are the outputs of the other commands.
func (o *options) printed(ctx context.Context, b *bundle, cluster *ucv1.Cluster) {
	name := cluster.Namespace + "/" + cluster.Name
	for _, line := range [][]string{
		{"version"}, {"status", name, "--timeline=1000"}, {"why", name}, {"handover", name}, {"inventory", name}, {"plan", name},
	} {
		switch {
		case line[0] == "plan" && o.noPlan:
			b.without("plan.txt", "--no-plan leaves the user cluster alone")
			continue
		case line[0] == "inventory" && cluster.Status.Baseline == nil:
			b.without("inventory.txt", "the inventory is taken right before the hand-over")
			continue
		}
		fmt.Fprintf(b.progress, "Running %s\n", line[0])
		out := &bytes.Buffer{}
		err := o.call(ctx, line, out)
		b.add(line[0]+".txt", "what this command prints", strings.Join(line, " "), out.String())
		if err != nil {
			b.couldNotRead("all of "+line[0]+".txt", err)
		}
	}
}

// longest is how long another command may take: a plan asks a user cluster that may not answer.
const longest = 2 * time.Minute

// call another command, with the flags of this one that it has, too.
func (o *options) call(ctx context.Context, line []string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	root := o.root()
	command, _, err := root.Find(line)
	if err != nil {
		return err
	}
	o.flags.Visit(func(flag *pflag.Flag) {
		if flag.Name == "namespace" || command.Flags().Lookup(flag.Name) == nil {
			return
		}
		values := []string{flag.Value.String()}
		if several, is := flag.Value.(pflag.SliceValue); is {
			values = several.GetSlice()
		}
		for _, value := range values {
			line = append(line, "--"+flag.Name+"="+value)
		}
	})
	root.SetArgs(line)
	root.SetOut(out)
	root.SetErr(out)
	return root.ExecuteContext(ctx)
}

// write the archive into a new file of its owner.
func (o *options) write(b *bundle, archive []byte, scanned string) error {
	out, err := os.OpenFile(o.outputFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return o.exists()
	}
	if err != nil {
		return err
	}
	_, err = out.Write(archive)
	if err := errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(o.outputFile))
	}
	fmt.Fprintf(o.results, "Wrote %s: %d files, %d KiB. Its README.md lists them.\n%s\n", o.outputFile, len(b.files),
		(len(archive)+1023)/1024, scanned)
	if problems := b.problems(); len(problems) > 0 {
		return fmt.Errorf("%s is written, but could not read %s; its README.md says why", o.outputFile, strings.Join(problems, ", "))
	}
	return nil
}

// kindAndName of an object for people.
func kindAndName(kind string, key client.ObjectKey) string {
	return kind + " " + strings.TrimPrefix(key.String(), "/")
}
