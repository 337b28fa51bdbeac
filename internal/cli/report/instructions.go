package report

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// instructionsReport is what instructions prints: nothing but what the status of the Cluster says.
type instructionsReport struct {
	Cluster      string             `json:"cluster"`
	Step         ucv1.Step          `json:"step,omitempty"`
	Message      string             `json:"message,omitempty"`
	Instructions []ucv1.Instruction `json:"instructions"`
}

// Instructions shows what someone else has to change in a control plane.
func Instructions() *cobra.Command {
	options, output, dir := &management.Access{}, "", ""
	command := &cobra.Command{
		Use:   "instructions NAME",
		Short: "Says what to change in a control plane that the controller does not change.",
		Args:  cobra.ExactArgs(1),
		Long: "Says what to change where, in which order, and what was seen done, for a Cluster whose spec.controlPlane.change is " +
			"Instruct or whose type is External. It reads the Cluster only: what is printed is as old as its status.",
		RunE: func(command *cobra.Command, args []string) error {
			cluster, _, err := options.Cluster(command.Context(), args[0])
			if err != nil {
				return err
			}
			report := newInstructionsReport(cluster)
			if dir != "" {
				return report.writeFiles(command.OutOrStdout(), dir)
			}
			return terminal.Write(command.OutOrStdout(), output, report, report.text)
		},
	}
	options.Bind(command.Flags())
	terminal.BindFormat(command.Flags(), &output)
	command.Flags().StringVar(&dir, "output-dir", "", "Writes the files that the control plane has to read into this folder, and "+
		"prints nothing else.")
	return command
}

func newInstructionsReport(cluster *ucv1.Cluster) *instructionsReport {
	report := &instructionsReport{
		Cluster: cluster.Namespace + "/" + cluster.Name, Step: cluster.Status.Step, Instructions: cluster.Status.Instructions,
	}
	switch ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition); {
	case cluster.Spec.Paused:
		report.Message = "spec.paused is true: there are no instructions until that is taken back."
	case !cluster.Spec.ControlPlane.Instructed():
		report.Message = "The controller changes this control plane itself: spec.controlPlane.change is Apply."
	case ready != nil:
		report.Message = ready.Message
	}
	return report
}

// text prints the report for people.
func (r *instructionsReport) text(out io.Writer) error {
	var text strings.Builder
	text.WriteString("Cluster " + r.Cluster + ", at step " + orDash(string(r.Step)) + "\n" + strings.TrimSpace(r.Message) + "\n")
	if len(r.Instructions) == 0 {
		text.WriteString("\nThere is nothing to change now.\n")
	} else {
		text.WriteString("\nOne after the other; go on when the one before is done.\n")
	}
	static := false
	for i := range r.Instructions {
		text.WriteString("\n" + instructionText(&r.Instructions[i]))
		static = static || r.Instructions[i].Node != ""
	}
	if static {
		text.WriteString("\nThe kubelet runs every file of that folder whose name does not begin with a dot, so keep no copy in it. " +
			"Put the same flags\n" +
			"where the file is made from, or the next upgrade takes them back: for kubeadm, ConfigMap kube-system/kubeadm-config.\n")
	}
	text.WriteString(filesText(r.Instructions))
	_, err := io.WriteString(out, text.String())
	return err
}

func instructionText(instruction *ucv1.Instruction) string {
	mark, where := " ", instruction.Object
	if instruction.Done {
		mark = "x"
	}
	if instruction.Node != "" {
		where = "Node " + instruction.Node
	}
	text := fmt.Sprintf("[%s] %d. %s on %s", mark, instruction.Order, instruction.Component, where)
	if instruction.Node == "" {
		text = fmt.Sprintf("[%s] %d. %s in %s", mark, instruction.Order, instruction.Component, where)
	}
	if instruction.Leader {
		text += ", which leads now"
	}
	text += "\n"
	flags := len(instruction.Set) + len(instruction.Remove) + len(instruction.Files) + len(instruction.RemoveFiles)
	switch {
	case instruction.Done:
		return text
	case flags == 0:
		return text + "      Nothing to change. Waiting until it is seen again and what ran before is proven to have ended.\n"
	case instruction.Node != "":
		text += "      File " + manifestPath(instruction.Component) + ", where kubeadm has it\n"
	}
	return text + changesText(instruction)
}

func changesText(instruction *ucv1.Instruction) (text string) {
	for _, file := range instruction.Files {
		text += "      Mount   " + file.Path + ", by " + volumeText(instruction, file) + "\n"
	}
	for _, flag := range instruction.Set {
		text += "      Set     " + flag + "\n"
	}
	for _, flag := range instruction.Remove {
		text += "      Remove  " + flag + "\n"
	}
	for _, file := range instruction.RemoveFiles {
		text += "      Unmount " + file + "; delete the file when all are done\n"
	}
	return text
}

// volumeText says how the container gets a file. The folder is mounted, so that the file may be replaced in it.
func volumeText(instruction *ucv1.Instruction, file ucv1.InstructedFile) string {
	folder := path.Dir(file.Path)
	if instruction.Node == "" {
		return "a read-only volume " + file.Volume + " of a ConfigMap at " + folder
	}
	return "a read-only hostPath volume " + file.Volume + " of folder " + folder + " at the same path"
}

// filesText has each file once, as it is to be written before its flags are set.
func filesText(instructions []ucv1.Instruction) string {
	var text strings.Builder
	written := map[string]bool{}
	for i := range instructions {
		for _, file := range instructions[i].Files {
			if instructions[i].Done || written[file.Path] {
				continue
			}
			written[file.Path] = true
			fmt.Fprintf(&text, "\nWrite %s before you set the flags, to the letter; --output-dir DIR writes it for you.\n"+
				"Its SHA-256 is %x.\n\n%s", file.Path, sha256.Sum256([]byte(file.Content)), file.Content)
		}
	}
	return text.String()
}

// writeFiles writes what the instructions have, for those who distribute it.
func (r *instructionsReport) writeFiles(out io.Writer, dir string) error {
	written := map[string]bool{}
	for i := range r.Instructions {
		for _, file := range r.Instructions[i].Files {
			name := filepath.Join(dir, path.Base(file.Path))
			if written[name] {
				continue
			}
			written[name] = true
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make the output directory: %w", err)
			}
			if err := os.WriteFile(name, []byte(file.Content), 0o644); err != nil {
				return fmt.Errorf("write a file of the instructions: %w", err)
			}
			if _, err := fmt.Fprintln(out, "wrote", name); err != nil {
				return err
			}
		}
	}
	return nil
}

// manifestPath is kubeadm's: https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/
func manifestPath(component string) string { return "/etc/kubernetes/manifests/" + component + ".yaml" }
