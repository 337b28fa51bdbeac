package hazards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// found waits until every hazard is named, and nothing blocks that no one made.
func (p *Play) found(ctx context.Context) error {
	blocking := len(p.Group.blocking())
	var findings []ucv1.PreflightFinding
	err := p.until(ctx, "the findings", func(cluster *ucv1.Cluster) string {
		status := cluster.Status.Preflight
		if status == nil {
			return where(cluster)
		}
		findings = status.Findings
		for _, hazard := range p.Group.Hazards {
			if _, problem := hazard.among(findings); problem != "" {
				return problem
			}
		}
		if int(status.Blocking) != blocking {
			return fmt.Sprintf("%d findings block, and %d should: %+v", status.Blocking, blocking, findings)
		}
		return ""
	})
	if err != nil {
		return err
	}
	for _, hazard := range p.Group.Hazards {
		said, _ := hazard.among(findings)
		p.rows = append(p.rows, Row{
			Cluster: p.Group.Name, Hazard: hazard.Name, ID: hazard.ID, Severity: string(hazard.Severity), NotLookedAt: hazard.NotLookedAt,
			Refused: hazard.Refused, Said: said,
		})
	}
	return nil
}

// among returns what the hazard's finding says; a problem where there is none, or it is another one.
func (h Hazard) among(findings []ucv1.PreflightFinding) (said, problem string) {
	for _, finding := range findings {
		if finding.ID != h.ID {
			continue
		}
		objects := slices.Sorted(slices.Values(h.Objects))
		if finding.Severity == h.Severity && finding.NotLookedAt == h.NotLookedAt &&
			slices.Equal(slices.Sorted(slices.Values(finding.Objects)), objects) {
			return finding.Message, ""
		}
		problem = fmt.Sprintf("%s is %s about %v, not looked at: %t", h.ID, finding.Severity, finding.Objects, finding.NotLookedAt)
	}
	if problem == "" {
		problem = "there is no finding " + h.ID
	}
	return "", problem
}

// untouched says that the manager has only read: in the user cluster by the API server's own log, and KCM's Deployment is as
// before.
func (p *Play) untouched(ctx context.Context) error {
	events, err := p.User.AuditLog().Since(0)
	if err != nil {
		return err
	}
	requests, _, writes := audit.Count(events, bed.ManagerUser)
	// A question about rights is a request that creates something, and keeps nothing.
	writes = slices.DeleteFunc(writes, func(request string) bool { return strings.Contains(request, "accessreviews") })
	switch {
	case len(writes) > 0:
		return fmt.Errorf("nothing was accepted, and the manager sent %v", writes)
	case requests == 0:
		return errors.New("the audit log has no request of the manager, so it shows nothing")
	}
	if err := p.kcmAsBefore(ctx); err != nil {
		return fmt.Errorf("nothing was accepted: %w", err)
	}
	cluster, err := p.User.Get(ctx)
	if err != nil {
		return err
	}
	if cluster.Status.StartedAt != nil {
		return errors.New("nothing was accepted, and the migration has started")
	}
	for i := range p.rows {
		p.rows[i].Reads = requests
	}
	return nil
}

// kcmAsBefore says that KCM's Deployment was not changed.
func (p *Play) kcmAsBefore(ctx context.Context) error {
	deployment := &appsv1.Deployment{}
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.User.Namespace, Name: kcmName}, deployment); err != nil {
		return err
	}
	if deployment.Generation != p.kcm {
		return errors.New("KCM's Deployment was changed")
	}
	return nil
}
