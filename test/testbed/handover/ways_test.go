package handover

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// rolledBackAt is good with a rollback behind it: the CCM runs the loops until 19, KCM from 30 on, which got them at 25.
func rolledBackAt() Records {
	records := good()
	rollingBack := handedOver(at(10.4))
	rollingBack.Rollback = &ucv1.RollbackStatus{LoopsOnAt: &metav1.Time{Time: at(25)}}
	rolledBack := ucv1.ClusterStatus{Step: ucv1.StepRolledBack}
	rolledBack.Rollback = &ucv1.RollbackStatus{LoopsOnAt: &metav1.Time{Time: at(25)}, FinishedAt: &metav1.Time{Time: at(31)}}
	records.Clusters = append(records.Clusters, Seen{at(25), rollingBack}, Seen{at(31), rolledBack}, Seen{at(32), rolledBack})
	records.run(kcmName, "2", 30, 35)
	records.call(kcmName, 30)
	return records
}

// redoneAt has a second hand-over behind that: KCM runs the loops until 35, the CCM from 40 on.
func redoneAt() Records {
	records := rolledBackAt()
	records.Events = append(records.Events, Event{at(38), FenceOpened, fenceRole}, Event{at(39), LeaseHolder, ccmName + " " +
		ccmName + "-2_id"})
	status := handedOver(at(36.5))
	status.Handover.FinishedAt = &metav1.Time{Time: at(40)}
	records.Clusters = append(records.Clusters, Seen{at(40), status})
	records.run(ccmName, "2", 40, 50)
	records.call(ccmName, 40)
	return records
}

func (r *Records) run(component, instance string, from, to int) {
	for second := from; second <= to; second++ {
		for _, loop := range loops.CloudLoops() {
			r.Samples = append(r.Samples, loops.Sample{
				Time: at(float64(second)), Component: component, Instance: component + "-" + instance, Loop: loop, Running: true,
			})
		}
	}
}

func (r *Records) call(component string, seconds ...float64) {
	for _, second := range seconds {
		r.Calls = append(r.Calls, simcloud.Call{Time: at(second), Component: component, Loop: "service"})
	}
}

// unfinished leaves nothing of a hand-over's end: it was rolled back in its middle.
func unfinished(r *Records) {
	for i := range r.Clusters {
		if handover := r.Clusters[i].Status.Handover; handover != nil && r.Clusters[i].Time.Before(at(26)) {
			handover.FinishedAt = nil
		}
	}
}

func TestJudgeOfRollbacks(t *testing.T) {
	const overlap = "loops ran in two managers"
	for name, tc := range map[string]struct {
		records func() Records
		change  func(*Records)
		result  Result
		want    string
	}{
		"a rollback takes the loops back":        {records: rolledBackAt, result: RolledBack},
		"and they go there again":                {records: redoneAt, result: HandedOver},
		"also when it was not finished":          {records: redoneAt, change: unfinished, result: HandedOver},
		"the CCM may not call after KCM did":     {records: rolledBackAt, change: func(r *Records) { r.call(ccmName, 30.5) }, result: RolledBack, want: overlap},
		"nor may KCM after the second hand-over": {records: redoneAt, change: func(r *Records) { r.call(kcmName, 41) }, result: HandedOver, want: overlap},
		"nor before it has its loops back": {
			records: rolledBackAt, change: func(r *Records) { r.call(kcmName, 20); r.call(ccmName, 22) }, result: RolledBack,
			want: overlap,
		},
		"a loop that runs in both during the rollback": {
			records: rolledBackAt, change: func(r *Records) { r.run(ccmName, "9", 29, 31) }, result: RolledBack, want: overlap,
		},
		"a KCM that is not as before": {
			records: rolledBackAt, change: func(r *Records) { r.Events = append(r.Events, Event{at(31), KCMDiffers, "without --a"}) },
			result: RolledBack, want: "KCM was not as before when its migration was rolled back: without --a",
		},
		"a migration that is not rolled back": {records: rolledBackAt, result: HandedOver, want: "the result is RolledBack, not HandedOver"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			records, scenario := tc.records(), scenario()
			scenario.Want = tc.result
			if tc.change != nil {
				tc.change(&records)
			}
			_, unmet := Judge(scenario, records, false)
			if tc.want == "" {
				g.Expect(unmet).To(BeEmpty())
				return
			}
			g.Expect(unmet).To(ConsistOf(ContainSubstring(tc.want)))
		})
	}
}

func TestGapsOfRollbacks(t *testing.T) {
	g := NewWithT(t)
	row, _ := Judge(scenario(), rolledBackAt(), true)
	g.Expect(row.Result).To(Equal(RolledBack))
	g.Expect(row.Protocol).To(Equal("Fenced"), "although the status forgot it")
	g.Expect(row.GapSeconds).To(HaveValue(Equal(2.0)), "that of the hand-over")
	g.Expect(row.OtherGapSeconds).To(HaveValue(Equal(11.0)), "that of its rollback")

	records := redoneAt()
	unfinished(&records)
	row, _ = Judge(scenario(), records, true)
	g.Expect(row.GapSeconds).To(HaveValue(Equal(5.0)), "that of the first one that was finished")
	g.Expect(row.Parts).To(Equal(&Parts{Ends: 1.5, Proof: 1.5, Lease: 1, Loops: 1}))
}

func TestWays(t *testing.T) {
	g := NewWithT(t)
	g.Expect(good().ways()).To(Equal([]way{{}}), "all the time")
	cut := at(12).Add(time.Nanosecond)
	g.Expect(redoneAt().ways()).To(Equal([]way{{to: cut}, {from: cut}}), "behind the CCM's last call")

	g.Expect(good().begin(at(12))).To(Equal(time.Time{}))
	g.Expect(redoneAt().begin(at(12))).To(Equal(time.Time{}))
	g.Expect(redoneAt().begin(at(40))).To(Equal(at(31)), "when the rollback ended")

	silent := redoneAt()
	silent.Calls = only(silent.Calls, func(call simcloud.Call) bool { return call.Component == kcmName })
	g.Expect(silent.ways()).To(Equal([]way{{}}), "KCM was the only one that called")
}

func TestDifferences(t *testing.T) {
	pod := func(command []string, volumes ...string) corev1.PodSpec {
		spec := corev1.PodSpec{Containers: []corev1.Container{{Command: command}}}
		for _, volume := range volumes {
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: volume})
		}
		return spec
	}
	before := pod([]string{"kcm", "--a=1", "--b"}, "secret")
	for name, tc := range map[string]struct {
		after corev1.PodSpec
		want  string
	}{
		"another order is none":  {after: pod([]string{"kcm", "--b", "--a=1"}, "secret")},
		"another value":          {after: pod([]string{"kcm", "--a=2", "--b"}, "secret"), want: "without --a=1, with --a=2"},
		"a flag twice":           {after: pod([]string{"kcm", "--a=1", "--b", "--b"}, "secret"), want: "with something twice"},
		"a volume that was left": {after: pod([]string{"kcm", "--a=1", "--b"}, "secret", "lock"), want: "with volume lock"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(differences(before, tc.after)).To(Equal(tc.want))
		})
	}
}
