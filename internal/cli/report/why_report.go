package report

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/docs/runbooks"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// actor is who has to do something.
type actor string

const (
	person     actor = "Person"
	controlled actor = "Controller"
	noActor    actor = "None"
)

// blocker is the one thing that is in the way of a Cluster, and what to run. The words are those of its runbook.
type blocker struct {
	Cluster string       `json:"cluster"`
	State   clusterState `json:"state"`
	Acts    actor        `json:"acts"`
	Step    ucv1.Step    `json:"step,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	// Unattended is what the status says when no manager runs the cloud loops; it outweighs the reason.
	Unattended string `json:"unattended,omitempty"`
	Message    string `json:"message,omitempty"`
	// Paused is what condition Paused says, when the reason is another one.
	Paused  string         `json:"paused,omitempty"`
	Meaning string         `json:"meaning,omitempty"`
	Look    []commandBlock `json:"look,omitempty"`
	Remedy  []commandBlock `json:"remedy,omitempty"`
	Runbook string         `json:"runbook,omitempty"`
	// Kubeconfig of the user cluster, when a command runs there.
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

// inUserCluster is where commands run that are not for the management cluster.
const inUserCluster = "user cluster"

// commandBlock are commands that run in one place.
type commandBlock struct {
	Where    string   `json:"where"`
	Only     string   `json:"only,omitempty"`
	Commands []string `json:"commands"`
}

// waitsForPerson are waits that no time ends.
func waitsForPerson(reason string) bool {
	switch reason {
	case ucv1.WaitingBeforePointOfNoReturnReason,
		ucv1.WaitingForAdministratorReason,
		ucv1.WaitingForApprovalReason,
		ucv1.KubeconfigMissingReason,
		ucv1.UnauthorizedReason,
		ucv1.CloudLoopsUnattendedReason,
		// Queues that no turn ends.
		ucv1.FleetMigrationGoneReason, ucv1.NotSelectedReason, ucv1.NoFleetMigrationReason:
		return true
	}
	return false
}

// blockingCondition is the condition that says what is in the way; empty when nothing is.
func blockingCondition(cluster *ucv1.Cluster) metav1.Condition {
	conditions := cluster.Status.Conditions
	ready := ptr.Deref(meta.FindStatusCondition(conditions, ucv1.ReadyCondition), metav1.Condition{Status: metav1.ConditionTrue})
	reachable := meta.FindStatusCondition(conditions, ucv1.UserClusterReachableCondition)
	stalled := meta.FindStatusCondition(conditions, ucv1.StalledCondition)
	switch {
	case stalled != nil && ready.Reason != "" && ready.Status != metav1.ConditionUnknown:
		return *stalled
	case ready.Reason == ucv1.CloudLoopsUnattendedReason:
		return ready
	case cluster.Spec.Paused && cluster.ExternalCloudProvider():
		return pausedCondition(cluster)
	case ready.Status == metav1.ConditionTrue:
		return queueCondition(conditions, ready)
	case ready.Reason == ucv1.CouldNotLookReason && reachable != nil && reachable.Status != metav1.ConditionTrue:
		return *reachable
	}
	return ready
}

// queueCondition says what a Cluster waits for that is Ready; empty: nothing.
func queueCondition(conditions []metav1.Condition, ready metav1.Condition) metav1.Condition {
	if ready.Reason != ucv1.QueuedReason {
		return metav1.Condition{}
	}
	return ptr.Deref(meta.FindStatusCondition(conditions, ucv1.AdmittedCondition), ready)
}

// pausedCondition says what the pause does not stop, as soon as the controller has seen it.
func pausedCondition(cluster *ucv1.Cluster) metav1.Condition {
	said := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.PausedCondition)
	if said == nil || said.Status != metav1.ConditionTrue {
		return metav1.Condition{Reason: ucv1.PausedReason, Message: "spec.paused is true, and the controller has not said yet what " +
			"it does not stop."}
	}
	return *said
}

// pausedToo is what the pause does not stop, when something else is in the way first.
func pausedToo(cluster *ucv1.Cluster, reason string) string {
	if !cluster.Spec.Paused || !cluster.ExternalCloudProvider() || reason == ucv1.PausedReason {
		return ""
	}
	return pausedCondition(cluster).Message
}

// unattended is what the status says when no manager runs the cloud loops.
func unattended(cluster *ucv1.Cluster) string {
	attended := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.CloudLoopsAttendedCondition)
	if attended == nil || attended.Status != metav1.ConditionFalse {
		return ""
	}
	return attended.Message
}

// blockerOf says what is in the way of a Cluster.
func blockerOf(cluster *ucv1.Cluster) blocker {
	state, condition := stateOf(cluster), blockingCondition(cluster)
	what := blocker{
		Cluster: cluster.Namespace + "/" +
			cluster.Name,
		State:      state,
		Acts:       noActor,
		Step:       cluster.Status.Step,
		Since:      sinceOf(cluster, state),
		Unattended: unattended(cluster),
		Reason:     condition.Reason,
		Message:    condition.Message,
	}
	what.Paused = pausedToo(cluster, what.Reason)
	switch state {
	case needsYou, isPaused:
		what.Acts = person
	case cannotLook, isRollingBack, isWorking, isQueued, isDeleting:
		what.Acts = controlled
	case isNew:
		what.Acts, what.Message = controlled, "The controller has not looked at it yet. If that stays, see that the manager runs "+
			"and leads."
	default:
		if ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition); ready != nil {
			what.Message = ready.Message
		}
		if ahead := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyToMigrateCondition); ahead != nil {
			what.Message += " " + ucv1.ReadyToMigrateCondition + " is " + string(ahead.Status) + ": " + ahead.Message
			if first := firstFinding(cluster); first != nil && ahead.Status == metav1.ConditionFalse {
				what.Message += " The worst is " + first.ID + ": " + first.Message
			}
		}
	}
	what.addRunbook(cluster)
	return what
}

// addRunbook fills in what the runbook of the reason says.
func (b *blocker) addRunbook(cluster *ucv1.Cluster) {
	reason, about := b.Reason, cluster.Status.About
	if first := firstFinding(cluster); reason == ucv1.PreflightFailedReason && first != nil {
		// Its message and its runbook say more than those of all findings together; the next one is shown when it is fixed.
		reason, about, b.Message = first.ID, first.About, first.Message
	}
	runbook, found := runbooks.Lookup(reason)
	if !found {
		return
	}
	b.Meaning, b.Runbook = runbook.Paragraph(runbooks.Meaning), runbook.Path()
	b.Look = commandsOf(runbook.Blocks(runbooks.Checks), cluster, about)
	b.Remedy = commandsOf(runbook.Blocks(runbooks.Remedy), cluster, about)
	for _, block := range slices.Concat(b.Look, b.Remedy) {
		if block.Where == inUserCluster {
			b.Kubeconfig = kubeconfigOf(cluster)
		}
	}
}

// firstFinding that keeps the migration from starting.
func firstFinding(cluster *ucv1.Cluster) *ucv1.PreflightFinding {
	if cluster.Status.Preflight == nil {
		return nil
	}
	findings := cluster.Status.Preflight.Findings
	at := slices.IndexFunc(findings, func(f ucv1.PreflightFinding) bool {
		return f.Severity == ucv1.FindingSeverity(observation.Blocking) && !f.Accepted && !f.NotLookedAt
	})
	if at < 0 {
		return nil
	}
	return &findings[at]
}

func kubeconfigOf(cluster *ucv1.Cluster) string {
	secret := cluster.KubeconfigSecret()
	return "Secret " + cluster.Namespace + "/" + secret.Name + ", key " + secret.Key
}

// placeholders are the words of the runbooks' commands and what they stand for. In the user cluster, NAMESPACE and NAME are
// those of the first object that the message names.
func placeholders(cluster *ucv1.Cluster, about []ucv1.ObjectName, where string) map[string]string {
	values := map[string]string{
		"PROVIDER":            cluster.Spec.Cloud.ProviderName,
		"CLOUD_CONFIGURATION": cluster.Spec.Cloud.ConfigSecretRef.Name,
	}
	switch {
	case where != inUserCluster:
		values["NAMESPACE"], values["NAME"] = cluster.Namespace, cluster.Name
	case len(about) > 0:
		values["NAMESPACE"], values["NAME"] = about[0].Namespace, about[0].Name
	}
	for _, object := range about {
		kind := strings.ToUpper(object.Kind)
		if values[kind] == "" {
			values[kind], values[kind+"_NAMESPACE"] = object.Name, object.Namespace
		}
	}
	return values
}

// commandsOf fills the placeholders in. A command about an object that the message does not name is left out. What does harm
// at the wrong moment keeps its placeholders of objects: a person writes the name.
func commandsOf(blocks []runbooks.Block, cluster *ucv1.Cluster, about []ucv1.ObjectName) []commandBlock {
	var filled []commandBlock
	for _, block := range blocks {
		one, values := commandBlock{Where: block.Where, Only: block.Only}, placeholders(cluster, about, block.Where)
		for _, command := range block.Commands {
			if text, named := fillCommand(command, values, block); named {
				one.Commands = append(one.Commands, text)
			}
		}
		if len(one.Commands) > 0 {
			filled = append(filled, one)
		}
	}
	return filled
}

func fillCommand(command string, values map[string]string, block runbooks.Block) (text string, named bool) {
	named = true
	objects := regexp.MustCompile(`^(MACHINE|MACHINEDEPLOYMENT|NODE|POD|SERVICE)(_NAMESPACE)?$`)
	quoting := quotes{}
	// A word before a colon is the heading of a column, as in custom-columns=NAME:.metadata.name.
	text = regexp.MustCompile(`['"]|\b[A-Z][A-Z_]+\b:?`).ReplaceAllStringFunc(command, func(word string) string {
		if quoting.turn(word) || strings.HasSuffix(word, ":") {
			return word
		}
		isObject := objects.MatchString(word) || (block.Where == inUserCluster && (word == "NAME" || word == "NAMESPACE"))
		switch value := values[word]; {
		case value == "":
			named = named && !isObject
			return word
		case isObject && block.Only != "":
			return word
		default:
			return quoting.quote(value)
		}
	})
	return text, named
}

// quotes says within which quotation marks of a shell a word of a command stands.
type quotes struct{ within string }

func (q *quotes) turn(mark string) bool {
	switch {
	case mark != "'" && mark != `"`:
		return false
	case q.within == mark:
		q.within = ""
	case q.within == "":
		q.within = mark
	}
	return true
}

// quote keeps a shell from reading anything into a value: a person is told to run the command.
func (q *quotes) quote(value string) string {
	switch {
	case regexp.MustCompile(`^[\w./:@%+=,-]+$`).MatchString(value):
		return value
	case q.within == "'":
		return strings.ReplaceAll(value, "'", `'\''`)
	case q.within == `"`:
		return regexp.MustCompile("[\"$`\\\\]").ReplaceAllString(value, `\$0`)
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
