package providerprofile

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func profile(name string) *ucv1.ProviderProfile {
	return &ucv1.ProviderProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 3}, Spec: ucv1.ProviderProfileSpec{ProviderName: "openstack"},
	}
}

func TestStatus(t *testing.T) {
	now := time.Unix(1700000000, 0).UTC()
	for name, tc := range map[string]struct {
		name     string
		problems []string
		ready    metav1.ConditionStatus
		reason   string
		says     string
	}{
		"a profile with the provider's name is applied":   {"openstack", nil, metav1.ConditionTrue, "Applied", "the Clusters of provider openstack."},
		"a profile with another name says which it needs": {"next", nil, metav1.ConditionFalse, "NotUsed", "which has its name: name it openstack."},
		"a profile with problems says all of them":        {"openstack", []string{"A is bad.", "B is bad."}, metav1.ConditionFalse, "Invalid", "Nothing of it is applied: A is bad. B is bad."},
		"a profile with another name can be prepared":     {"next", []string{"A is bad."}, metav1.ConditionFalse, "Invalid", "A is bad."},
		"problems without end are cut between characters": {"openstack", []string{strings.Repeat("ä", 5000)}, metav1.ConditionFalse, "Invalid", "ää..."},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			status := statusOf(profile(tc.name), tc.problems, now)
			g.Expect(status.ObservedGeneration).To(Equal(int64(3)))
			for _, condition := range status.Conditions {
				g.Expect(condition.Reason).To(Equal(tc.reason))
				g.Expect(condition.Message).To(ContainSubstring(tc.says))
				g.Expect(len(condition.Message)).To(BeNumerically("<=", maxMessage))
				g.Expect(condition.ObservedGeneration).To(Equal(int64(3)))
				g.Expect(condition.LastTransitionTime.Time).To(Equal(now))
			}
			g.Expect(status.Conditions[0]).To(And(HaveField("Type", "Ready"), HaveField("Status", tc.ready)))
			if tc.ready == metav1.ConditionTrue {
				g.Expect(status.Conditions).To(HaveLen(1))
			} else {
				g.Expect(status.Conditions[1]).To(
					And(HaveField("Type", "Stalled"), HaveField("Status", metav1.ConditionTrue)),
					"a person must act",
				)
			}
		})
	}
}

func TestStatusThatStaysKeepsItsTime(t *testing.T) {
	g := NewWithT(t)
	first, later := time.Unix(1700000000, 0).UTC(), time.Unix(1700000060, 0).UTC()
	p := profile("openstack")
	p.Status = statusOf(p, []string{"A is bad."}, first)
	g.Expect(statusOf(p, []string{"A is bad."}, later)).To(Equal(p.Status))
	p.Status = statusOf(p, []string{"B is bad."}, later)
	g.Expect(p.Status.Conditions[0].LastTransitionTime.Time).To(Equal(first), "it is still False")
	p.Status = statusOf(p, nil, later)
	g.Expect(p.Status.Conditions).To(
		ConsistOf(And(HaveField("Status", metav1.ConditionTrue), HaveField("LastTransitionTime.Time", later))),
	)
}
