package dashboard

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// notice is what stands above everything else.
type notice struct{ Class, Text string }

// byNamespace says that a FleetMigration selects Clusters by the labels of their Namespaces.
func (s *seen) byNamespace() bool {
	return slices.ContainsFunc(s.migrations, func(fm *ucv1.FleetMigration) bool { return fm.Spec.NamespaceSelector != nil })
}

// judges says that all was read that FleetMigrations are judged by. A part of the Clusters would make other counts.
func (s *seen) judges() bool {
	return s.namespace == "" && s.kinds[clusters].synced && s.kinds[fleetMigrations].synced &&
		(s.kinds[namespaces].synced || !s.byNamespace())
}

// live says that what is shown is what there is now.
func (s *seen) live() bool {
	return !slices.ContainsFunc(s.notices(time.Time{}), func(n notice) bool { return n.Class == terminal.Bad.Class() })
}

// notices of what could not be looked at.
func (s *seen) notices(now time.Time) (notices []notice) {
	if lost := s.kinds[probed]; lost.err != nil {
		notices = append(notices, notice{terminal.Bad.Class(), fmt.Sprintf("The management cluster at %s does not answer: %v. %s",
			s.host, lost.err, s.age("What is shown", clusters, now))})
	}
	names := []struct{ resource, name string }{{clusters, "Clusters"}}
	if s.namespace == "" {
		names = append(names, struct{ resource, name string }{fleetMigrations, "FleetMigrations"})
	}
	if s.byNamespace() {
		names = append(names, struct{ resource, name string }{namespaces, "Namespaces"})
	}
	for _, of := range names {
		if text, class := s.noticeOf(of.resource, of.name, now); text != "" {
			notices = append(notices, notice{class.Class(), text})
		}
	}
	if s.namespace != "" {
		notices = append(notices, notice{terminal.Plain.Class(), fmt.Sprintf("Only Clusters of namespace %s are shown. "+
			"FleetMigrations count those of all namespaces: to see them, start the dashboard without --namespace.", s.namespace)})
	}
	return notices
}

func (s *seen) noticeOf(resource, name string, now time.Time) (string, terminal.Tone) {
	look := s.kinds[resource]
	switch lost := s.kinds[probed].err != nil; {
	case look.err == nil && look.synced, lost && (look.synced || !apierrors.IsForbidden(look.err)):
		return "", terminal.Plain
	case look.err == nil:
		return fmt.Sprintf("The %s are being read. None is shown yet.", name), terminal.Busy
	case meta.IsNoMatchError(look.err), apierrors.IsNotFound(look.err):
		return fmt.Sprintf("The management cluster at %s does not know %s. Install the CustomResourceDefinition %s.%s of this release.",
			s.host, name, resource, ucv1.GroupVersion().Group), terminal.Bad
	case apierrors.IsForbidden(look.err):
		return fmt.Sprintf("You may not list and watch the %s: %v. %s", name, look.err, s.age("What is shown of them", resource, now)),
			terminal.Bad
	}
	return fmt.Sprintf("Could not look at the %s: %v. %s", name, look.err, s.age("What is shown of them", resource, now)),
		terminal.Bad
}

// age says how old something is that is not seen now.
func (s *seen) age(what, resource string, now time.Time) string {
	look := s.kinds[resource]
	if !look.synced {
		return "None is shown."
	}
	return fmt.Sprintf("%s is %s old: of %s.", what, terminal.Age(now.Sub(look.at)), terminal.At(new(metav1.NewTime(look.at))))
}
