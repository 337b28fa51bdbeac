package preflight

import (
	"fmt"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// What a migration takes at most, roughly: a Machine at a time, and an hour for all that is not Machines.
const (
	aroundMachines = time.Hour
	eachMachine    = 15 * time.Minute
	soonExpired    = 7 * 24 * time.Hour
)

// CredentialsExpire is the finding that is watched on after the start.
const CredentialsExpire = "CredentialsExpire"

func accessChecks() []check {
	return []check{
		{
			id: "WebhookBroken", severity: observation.Blocking,
			means:  "An admission webhook that our addons pass has no one who answers, and refuses what it is not asked about.",
			unseen: unseenWebhooks, find: brokenWebhooks,
		},
		{
			id: "WebhookMatches", severity: observation.Info,
			means:  "An admission webhook is asked about our addons and may change or refuse them.",
			unseen: unseenWebhooks, find: matchingWebhooks,
		},
		{
			id: "RightsMissing", severity: observation.Blocking,
			means:  "Our credentials for the user cluster lack a right that the migration needs.",
			unseen: func(o Facts) string { return unseen("our rights in the user cluster", o.Denied) }, find: rightsMissing,
		},
		{
			id: CredentialsExpire, severity: observation.Blocking,
			means:  "Our credentials for the user cluster run out before the migration can be over.",
			unseen: func(o Facts) string { return unseen("the credentials in the kubeconfig", o.Credentials) }, find: expiring,
		},
	}
}

func unseenWebhooks(o Facts) string { return unseen("the admission webhooks", o.Webhooks) }

func (w Webhook) String() string { return w.Configuration + " webhook " + w.Name }

// brokenWebhooks: one whose endpoints could not be looked at is not taken for one that answers.
func brokenWebhooks(o Facts, _ time.Time) []observation.Finding {
	var findings []observation.Finding
	var broken []string
	for _, webhook := range o.Webhooks.Value() {
		ready, known := webhook.Ready.Get()
		switch {
		case !webhook.Fails || webhook.Service == "" || len(webhook.Matches) == 0 || known && ready:
		case webhook.Ready.IsUnknown():
			findings = append(findings, observation.NotLookedAt("the endpoints of "+webhook.String()+": "+webhook.Ready.Why()))
		default:
			broken = append(broken, webhook.String())
		}
	}
	return append(findings, about(broken, "They are asked about our addons, their Service has no ready endpoint, and they refuse "+
		"what they are not asked about",
		"Fix the webhook, delete its configuration, or let its namespaceSelector leave out kube-system.")...)
}

func matchingWebhooks(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.Webhooks.Value(), Webhook.String, func(w Webhook) bool { return len(w.Matches) > 0 }),
		"They are asked about our addons, and may change or refuse them", "See that their policies allow what a CCM and a CSI "+
			"driver need: the host network, "+
			"host paths and privileged containers in kube-system.")
}

func rightsMissing(o Facts, _ time.Time) []observation.Finding {
	denied := o.Denied.Value()
	if len(denied) == 0 {
		return nil
	}
	return []observation.Finding{{
		Message: "Our credentials may not " + strings.Join(denied, ", nor ") +
			": the migration stops where it needs that, and without the rights to the fence it does so while no one runs the cloud loops.",
		Action: "Apply config/usercluster-rbac in the user cluster.",
	}}
}

// ends is when a migration that starts now is over at the latest, as far as anybody can tell.
func (o Facts) ends(now time.Time) time.Time {
	return now.Add(aroundMachines + observation.SoakTime(o.Cluster) + time.Duration(len(o.Machines.Value().Machines))*eachMachine)
}

// expiring blocks a start only: a migration that has started goes on as long as it can, and its message must not tick.
func expiring(o Facts, now time.Time) []observation.Finding {
	expires, source := o.Credentials.Value().Expires, o.Credentials.Value().Source
	tooEarly := expires.Before(o.ends(now))
	if expires.IsZero() || !tooEarly && !expires.Before(now.Add(soonExpired)) {
		return nil
	}
	finding := observation.Finding{
		Severity: observation.Warning, Action: "Renew them.",
		Message: fmt.Sprintf("The credentials in %s run out at %s.", source, expires.UTC().Format(time.RFC3339)),
		Named:   []observation.Ref{source},
	}
	if tooEarly && o.Cluster.Status.StartedAt == nil {
		finding.Severity = observation.Blocking
		finding.Message = fmt.Sprintf("The credentials in %s run out at %s, and the migration may take until %s.",
			source, expires.UTC().Format(time.RFC3339), o.ends(now).UTC().Truncate(time.Hour).Add(time.Hour).Format(time.RFC3339))
	}
	return []observation.Finding{finding}
}
