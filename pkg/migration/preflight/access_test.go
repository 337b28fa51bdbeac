package preflight

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func webhook(change func(*Webhook)) func(*Facts) {
	return func(o *Facts) {
		w := Webhook{
			Configuration: "ValidatingWebhookConfiguration policy",
			Name:          "pods.example",
			Fails:         true,
			Matches:       []string{"pods"},
			Service:       "policy/hook",
			Ready:         observation.Known(true),
		}
		change(&w)
		o.Webhooks = observation.Known([]Webhook{w})
	}
}

func accessStories() map[string]story {
	hook := []string{"ValidatingWebhookConfiguration policy webhook pods.example"}
	noWebhooksSeen := func(o *Facts) { blind(&o.Webhooks) }
	expires := func(in time.Duration) func(*Facts) {
		return func(o *Facts) { edit(&o.Credentials, func(c *Credentials) { c.Expires = noon().Add(in) }) }
	}
	noCredentialsSeen := func(o *Facts) { blind(&o.Credentials) }
	return map[string]story{
		"no one answers for a webhook": {
			id:    "WebhookBroken",
			given: webhook(func(w *Webhook) { w.Fails, w.Ready = false, observation.Known(false) }),
			wrong: webhook(
				func(w *Webhook) { w.Ready = observation.Known(false) },
			),
			severity: observation.Blocking,
			objects:  hook,
			says:     "no ready endpoint",
			without:  noWebhooksSeen,
		},
		"no one knows whether someone answers": {
			id:       "WebhookBroken",
			given:    webhook(func(*Webhook) {}),
			wrong:    webhook(func(w *Webhook) { blind(&w.Ready) }),
			severity: observation.Blocking,
			unseen:   true,
			says:     "timeout",
			without:  noWebhooksSeen,
		},
		"a webhook is asked about the addons": {
			id:       "WebhookMatches",
			given:    webhook(func(w *Webhook) { w.Matches = nil }),
			wrong:    webhook(func(*Webhook) {}),
			severity: observation.Info,
			objects:  hook,
			says:     "host network",
			without:  noWebhooksSeen,
		},
		"a right is missing": {
			id:       "RightsMissing",
			wrong:    func(o *Facts) { o.Denied = observation.Known([]string{"patch machinedeployments"}) },
			severity: observation.Blocking,
			says:     "patch machinedeployments",
			without:  func(o *Facts) { blind(&o.Denied) },
		},
		"credentials run out in the middle": {
			id:       "CredentialsExpire",
			given:    expires(30 * 24 * time.Hour),
			wrong:    expires(time.Hour),
			severity: observation.Blocking,
			says:     "alpha-kubeconfig",
			without:  noCredentialsSeen,
		},
		"credentials run out this week": {
			id:       "CredentialsExpire",
			given:    func(o *Facts) { edit(&o.Credentials, func(c *Credentials) { c.Expires = time.Time{} }) },
			wrong:    expires(48 * time.Hour),
			severity: observation.Warning,
			says:     "run out at",
			without:  noCredentialsSeen,
		},
	}
}

func TestCredentialsThatRunOutHoldNothingUpAfterTheStart(t *testing.T) {
	g, facts := NewWithT(t), healthy()
	edit(&facts.Credentials, func(c *Credentials) { c.Expires = noon().Add(time.Hour) })
	g.Expect(JudgeCredentials(facts, noon())).To(
		ConsistOf(And(HaveField("ID", CredentialsExpire), HaveField("Severity", observation.Blocking))),
	)

	facts.Cluster.Status.StartedAt = &metav1.Time{Time: noon()}
	first := JudgeCredentials(facts, noon())
	g.Expect(first).To(
		ConsistOf(
			And(HaveField("Severity", observation.Warning), HaveField("Message", HaveSuffix("run out at 2026-01-01T13:00:00Z."))),
		),
	)
	g.Expect(JudgeCredentials(facts, noon().Add(30*time.Minute))).To(Equal(first), "nothing in it ticks")

	edit(&facts.Credentials, func(c *Credentials) { c.Expires = noon().AddDate(1, 0, 0) })
	g.Expect(JudgeCredentials(facts, noon())).To(BeEmpty())
}
