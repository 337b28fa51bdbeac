package fleet

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// direct says what is wanted of the Clusters that migrate in a FleetMigration.
func (d *decision) direct(r *run) {
	back := d.rollsBack(r)
	d.countBack(r, back)
	for _, i := range r.members {
		m, p := &d.fleet.Members[i], &d.plan.Members[i]
		switch {
		case !m.admitted():
			if p.Admit {
				p.Directive = ucv1.DirectiveProceed
			}
		case back[i]:
			p.Directive = ucv1.DirectiveRollback
		default:
			p.Directive = d.directive(r, i)
		}
		if p.Directive == ucv1.DirectiveHoldRoll {
			r.held++
		}
	}
}

// directive for a Cluster that was admitted and is not to be rolled back.
func (d *decision) directive(r *run, i int) ucv1.FleetDirective {
	m := &d.fleet.Members[i]
	_, there := d.byUID[m.Admission.UID]
	switch {
	case m.waitsAgain():
		return ""
	case m.done(), m.RollingBack, m.RolledBack, there && m.Admission.UID != string(r.object.UID):
		return m.Admission.Directive
	}
	return d.roll(r, i)
}

// roll goes on or is held.
func (d *decision) roll(r *run, i int) ucv1.FleetDirective {
	switch {
	case Released(r.object):
		return ucv1.DirectiveProceed // No one would say so later.
	case r.plan.Halt != nil && r.object.Spec.OnHalt == ucv1.HoldRollInFlight, d.verdict(r, i).HoldRoll:
		return ucv1.DirectiveHoldRoll
	case len(r.problems) > 0:
		return d.fleet.Members[i].Admission.Directive // What cannot be read may be what holds it.
	}
	return ucv1.DirectiveProceed
}

// rollsBack are the Clusters that a person wants rolled back and that are known to be before their point of no return: the
// newest first, and within the budgets. Windows do not count.
func (d *decision) rollsBack(r *run) map[int]bool {
	rollback := r.object.Spec.Rollback
	if rollback == nil {
		return nil
	}
	var wanted []int
	back := map[int]bool{}
	for _, i := range r.members {
		m, p := &d.fleet.Members[i], &d.plan.Members[i]
		switch {
		case !r.mayRollBack(m, p):
		case m.Admission.Directive == ucv1.DirectiveRollback:
			back[i] = true
		case p.State == InFlight, p.State == Failed, p.State == Succeeded && rollback.Scope == ucv1.RollbackAll:
			wanted = append(wanted, i)
		}
	}
	slices.SortFunc(wanted, func(a, b int) int {
		return d.fleet.Members[b].begun().Compare(d.fleet.Members[a].begun())
	})
	for _, i := range wanted {
		m := &d.fleet.Members[i]
		// What migrates is in the budgets already.
		if !m.migrates() {
			if len(d.exhausted(m, r, true)) > 0 {
				continue
			}
			d.take(m)
		}
		back[i] = true
	}
	return back
}

// mayRollBack says that a Cluster is meant by spec.rollback, and that it is known to be before its point of no return.
func (r *run) mayRollBack(m *Member, p *MemberPlan) bool {
	return r.wantsBack(m, p) && m.admitted() && m.BeforeNoReturn
}

// wantsBack says that a Cluster is the FleetMigration's, in a wave that is rolled back.
func (r *run) wantsBack(m *Member, p *MemberPlan) bool {
	return p.Wave >= 0 && slices.Contains(r.object.Spec.Rollback.Waves, r.waves[p.Wave].Name) && m.Admission != nil &&
		m.Admission.UID == string(r.object.UID)
}

// rollback is how far spec.rollback is.
type rollback struct {
	// done are rolled back, told are on their way, and waiting are kept from it by budgets.
	done, told, waiting int
	// staying go on, or stay migrated, because they are not known to be before their point of no return; examples names some.
	staying  int
	examples []string
}

func (d *decision) countBack(r *run, back map[int]bool) {
	spec := r.object.Spec.Rollback
	if spec == nil {
		return
	}
	for _, i := range r.members {
		m, p := &d.fleet.Members[i], &d.plan.Members[i]
		switch {
		case !r.wantsBack(m, p):
		case m.RolledBack:
			r.back.done++ // It waits in the queue again.
		case !m.admitted():
		case m.RollingBack, back[i]:
			r.back.told++
		case m.BeforeNoReturn && !m.done():
			r.back.waiting++
		case !m.done(), spec.Scope == ucv1.RollbackAll:
			r.back.staying++
			r.back.examples = append(r.back.examples, m.String())
		}
	}
	slices.Sort(r.back.examples)
	r.back.examples = r.back.examples[:min(len(r.back.examples), shownExamples)]
}
