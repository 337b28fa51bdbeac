package main

import "fmt"

const (
	clusterUID = "ccm-migration-cluster"
	// one is the Cluster that is looked at.
	one = `{namespace="$namespace", name="$name"}`
)

// cluster is for the operator who looks at one Cluster. No metric of the manager has names of Clusters, so it is made of the
// series of config/kube-state-metrics.
func cluster() dashboard {
	return dashboardOf(clusterUID, "CCM migration: one cluster",
		"What one Cluster does, and since when. It needs the configuration of kube-state-metrics (docs/dashboards.md). "+
			"'ccm-migration-controller why NAME' says what to do.",
		[]variable{
			choice("namespace", "Namespace", "label_values(ccm_migration_cluster_info, namespace)"),
			choice("name", "Cluster", `label_values(ccm_migration_cluster_info{namespace="$namespace"}, name)`),
		},
		section{"Now", clusterNow()}, section{"Since when", clusterTimes()}, section{"History", clusterHistory()},
		section{"Control plane in the management cluster", clusterControlPlane()},
	)
}

func last(metric string) string { return "max(ccm_migration_cluster_" + metric + one + ")" }

// conditions of the Cluster that match: when each got its status, which its labels say.
func conditions(matching string) string {
	return `ccm_migration_cluster_condition_timestamp_seconds{namespace="$namespace", name="$name"` + matching + `}`
}

func clusterNow() []panel {
	return []panel{
		names("Step", "The row of the migration table that is current.",
			query{`max by (step) (ccm_migration_cluster_step_info` + one + `)`, "{{step}}"}).page("migration.md"),
		names("Needs a person", "The reason of condition Stalled. Without a value, no one has to act.",
			query{"max by (reason) (" + conditions(`, type="Stalled", status="True"`) + ")", "{{reason}}"}).page("operations.md#runbooks"),
		names("Ready", "The reason of condition Ready, where it is not True.",
			query{"max by (reason) (" + conditions(`, type="Ready", status!="True"`) + ")", "{{reason}}"}).page("conditions.md"),
		now("Cloud loops", "False: no manager runs them, and no new Node and no new load balancer works.", "none",
			query{"max(" + conditions(`, type="CloudLoopsAttended", status="True"`) + " > bool 0) or max(" +
				conditions(`, type="CloudLoopsAttended", status!="True"`) + " < bool 0)", ""}).
			means(shown{"Unattended", "red"}, shown{"Attended", "green"}).page("runbooks/CloudLoopsUnattended.md"),
		names("Fleet and wave", "The claim of a FleetMigration, whether it admitted the Cluster, and what it wants of it.",
			query{`max by (fleet_migration, wave, state, directive) (ccm_migration_cluster_admission_info` + one + `)`,
				"{{fleet_migration}} {{wave}}: {{state}} {{directive}}"}).page("fleet.md#what-queued-looks-like"),
		names("Provider and version", "Which rules and which addons hold for it.", query{
			`max by (provider, version) (ccm_migration_cluster_info` + one + `)`, "{{provider}} {{version}}",
		}).page("versions.md"),
		now("Machines up-to-date", "The share of the Machines that join with the external cloud provider.", "percentunit",
			query{last("machines_up_to_date") + " / " + last("machines"), ""}),
		now("Blocked Machines", "A person must look at them.", "short", query{last("machines_blocked"), ""}).
			from(0, 1).page("runbooks/BlockedMachines.md"),
		now("Nodes initialized", "The share of the Nodes that are Ready, without the taint uninitialized.", "percentunit",
			query{last("nodes_initialized") + " / " + last("nodes"), ""}).below(1).page("runbooks/NodesNotInitialized.md"),
		now("Blocking findings", "Findings of preflight that block the migration.", "short",
			query{last("preflight_blocking_findings"), ""}).from(0, 1).page("preflight.md"),
		names("Objectives", "The verdict on the service level objectives.",
			query{`max by (verdict) (ccm_migration_cluster_slo_info` + one + `)`, "{{verdict}}"}).page("runbooks/SLOViolated.md"),
		now("Migrates for", "Until now, or until it completed. Longer than a day calls someone.", "s", query{
			"(" + last("completed_timestamp_seconds") + " or time() + 0 * " + last("started_timestamp_seconds") + ") - " +
				last("started_timestamp_seconds"), "",
		}).from(43200, 86400).page("alerts.md#ccmmigrationtakeslong"),
		list("Conditions", "Their messages say what to do: 'ccm-migration-controller why NAME' shows them.", "dateTimeAsIso", "since",
			`1000 * max by (type, status, reason) (`+conditions("")+`)`).page("conditions.md"),
	}
}

func clusterTimes() (panels []panel) {
	for _, moment := range []struct{ title, description, metric string }{
		{"Created", "When the Cluster was created.", "created"},
		{"Admitted", "When a FleetMigration admitted it.", "admitted"},
		{"Started", "When preflight was judged and the migration started.", "started"},
		{"Point of no return", "Rollback is impossible since then. Without a value it is possible.", "point_of_no_return"},
		{"Completed", "When the migration completed.", "completed"},
	} {
		panels = append(panels, now(moment.title, moment.description, "dateTimeAsIso",
			query{"1000 * " + last(moment.metric+"_timestamp_seconds"), ""}))
	}
	return panels
}

func clusterHistory() []panel {
	is := func(status, compared string) string {
		return fmt.Sprintf("max by (type) (%s %s bool 0)", conditions(`, status="`+status+`"`), compared)
	}
	return []panel{
		strip("Steps", "Which step was current when.",
			query{`max by (step) (ccm_migration_cluster_step_info` + one + `)`, "{{step}}"}).
			means(shown{"", "text"}, shown{"Current", "blue"}).page("migration.md"),
		strip("Conditions", "Stalled and Reconciling are there only while they are True.", query{
			is("True", ">") + " or " + is("False", "<") + " or 1 + " + is("Unknown", ">"), "{{type}}",
		}).means(shown{"False", "gray"}, shown{"True", "green"}, shown{"Unknown", "yellow"}).page("conditions.md"),
		over("Machines", "A roll that stands still waits for a budget, a pause, or a person.", "short",
			query{last("machines"), "all"}, query{last("machines_up_to_date"), "up-to-date"}, query{last("machines_blocked"), "blocked"}).
			page("runbooks/BlockedMachines.md"),
		over("Nodes", "Initialized, and proven to have an external kubelet.", "short",
			query{last("nodes"), "all"}, query{last("nodes_initialized"), "initialized"}, query{last("nodes_proven"), "proven"}).
			page("runbooks/NodesNotInitialized.md"),
		over("Samples that missed an objective", "Since the machine-controller was configured, or since spec.slo.countSince.", "short",
			query{`max by (indicator) (ccm_migration_cluster_slo_missed_samples` + one + `)`, "{{indicator}}"}).
			wide(across).page("runbooks/SLOViolated.md"),
	}
}

func clusterControlPlane() []panel {
	return []panel{
		over("Replicas that are not available", "Deployments of the namespace: KCM, kube-apiserver, the machine-controller. "+
			"Empty where the control plane is static pods.", "short",
			query{`max by (deployment) (kube_deployment_status_replicas_unavailable{namespace="$namespace"})`, "{{deployment}}"}).
			page("runbooks/ComponentRollingOut.md"),
		over("Restarts of containers within an hour", "A KCM or a CCM that restarts does not keep its Lease.", "short", query{
			`sum by (pod, container) (increase(kube_pod_container_status_restarts_total{namespace="$namespace"}[1h])) > 0`,
			"{{pod}} {{container}}",
		}).page("operations.md"),
	}
}
