package main

import (
	"fmt"
	"strings"
)

// fleet is for its owner, and for the operator whom an alert of a FleetMigration calls.
func fleet() dashboard {
	d := dashboardOf("ccm-migration-fleet", "CCM migration: fleet",
		"How far a FleetMigration is, what its Clusters wait for, and who has to act. The last sections are about all Clusters.",
		[]variable{
			choice("fleet_migration", "FleetMigration", "label_values(ccm_migration_fleet_clusters, fleet_migration)"),
			choice("wave", "Wave", `label_values(ccm_migration_fleet_clusters{fleet_migration="$fleet_migration"}, wave)`).several(),
		},
		section{"Now", fleetNow()}, section{"Waves", fleetWaves()}, section{"What Clusters wait for", fleetWaits()},
		section{"Failures", fleetFailures()}, section{"How long it takes", fleetDurations()}, section{"All Clusters", allClusters()},
	)
	d.Annotations.List = []annotation{
		marked("Halts", "red", `max by (reason) (ccm_migration_fleet_halted{fleet_migration="$fleet_migration"}) == 1`,
			"Halted: {{reason}}"),
		marked("Approvals awaited", "orange",
			`max by (wave) (ccm_migration_fleet_wave_state{fleet_migration="$fleet_migration", state="AwaitingApproval"}) == 1`,
			"Wave {{wave}} waits for an approval"),
	}
	return d
}

func marked(name, color, expr, title string) annotation {
	return annotation{
		Name: name, Datasource: prometheus(), Enable: true, IconColor: color, Expr: expr, TitleFormat: title, Step: "60s",
	}
}

// clusters of the FleetMigration in a state; a change of the manager that leads must not count them twice.
func clusters(by, state string) string {
	return fmt.Sprintf(
		`sum by (%s) (max by (wave, state) (ccm_migration_fleet_clusters{fleet_migration="$fleet_migration", state=~"%s"}))`, by, state,
	)
}

func fleetNow() []panel {
	halted, stalled := shown{"Halted", "red"}, shown{"Stalled", "red"}
	return []panel{
		now("Halted", "A halted FleetMigration starts no Cluster until someone sets spec.failures.countSince.", "none",
			query{`max by (reason) (ccm_migration_fleet_halted{fleet_migration="$fleet_migration"})`, "{{reason}}"}).
			means(shown{"No", "green"}, halted).reasoned().page("runbooks/MaxFailuresExceeded.md"),
		now("Needs a person", "Its condition Stalled is True. The reason has a runbook.", "none",
			query{`max by (reason) (ccm_migration_fleet_stalled{fleet_migration="$fleet_migration"})`, "{{reason}}"}).
			means(shown{"No", "green"}, stalled).reasoned().page("operations.md#runbooks"),
		now("Succeeded", "The share of its Clusters that have completed their migration.", "percentunit",
			query{clusters("", "Succeeded") + " / " + clusters("", ".+"), ""}),
		now("In flight", "Clusters that migrate now.", "short", query{clusters("", "InFlight"), ""}),
		now("Failed", "Clusters that need a person, also those whose failure was looked at.", "short",
			query{clusters("", "Failed"), ""}).from(0, 1).page("runbooks/MaxFailuresExceeded.md"),
		now("Waiting", "Clusters that wait for their turn, and those that something of their own keeps back.", "short",
			query{clusters("state", "Queued|Ineligible"), "{{state}}"}),
		now("Since the last decision", "The manager that leads decides at least every 15 minutes.", "s",
			query{`time() - max(ccm_migration_fleet_last_decision_timestamp_seconds)`, ""}).
			from(1200, 2700).page("alerts.md#fleetmigrationdecisionstale"),
		now("Since the last progress", "A Cluster was admitted or completed, or a wave opened or passed.", "s",
			query{`time() - max(ccm_migration_fleet_last_progress_timestamp_seconds{fleet_migration="$fleet_migration"})`, ""}).
			page("alerts.md#fleetmigrationnotprogressing"),
		now("Expected end", "When the last Cluster will be done, if all goes on as it did. Without a value there is no forecast.",
			"dateTimeFromNow", query{
				`1000 * max by (bound) (ccm_migration_fleet_forecast_timestamp_seconds{fleet_migration="$fleet_migration"})`, "{{bound}}",
			}).wide(8),
		now("Unplaced", "Clusters that no wave selects never start.", "short", query{
			`sum(max by (state) (ccm_migration_fleet_clusters{fleet_migration="$fleet_migration", wave=""}))`, "",
		}).from(0, 1).page("runbooks/Unplaced.md"),
		now("Without a FleetMigration", "Clusters that wait for a FleetMigration that is gone.", "short", query{
			`sum(max by (fleet_migration, wave) (ccm_migration_fleet_waiting_clusters{reason="FleetMigrationGone"}))`, "",
		}).from(0, 1).page("runbooks/FleetMigrationGone.md"),
		list("Conditions", "Halted, Stalled and WindowOpen say why no Cluster starts. Needs kube-state-metrics.",
			"dateTimeAsIso", "since", `1000 * max by (type, status, reason) (`+
				`ccm_migration_fleet_migration_condition_timestamp_seconds{fleet_migration="$fleet_migration"})`),
	}
}

// waveStates in the order in which a wave has them; the strip shows their index.
func waveStates() []shown {
	return []shown{
		{"Waiting", "text"}, {"AwaitingApproval", "orange"}, {"Open", "blue"}, {"Soaking", "yellow"}, {"Passed", "green"},
		{"Empty", "gray"},
	}
}

func fleetWaves() []panel {
	states := []string{}
	for i, state := range waveStates() {
		states = append(states, fmt.Sprintf(
			`%d * max by (wave) (ccm_migration_fleet_wave_state{fleet_migration="$fleet_migration", state="%s"})`, i, state.Text,
		))
	}
	const chosen = `{fleet_migration="$fleet_migration", wave=~"$wave"}`
	return []panel{
		strip("State of each wave", "A wave opens when the one before has passed.", query{strings.Join(states, " + "), "{{wave}}"}).
			means(waveStates()...).page("runbooks/AwaitingApproval.md"),
		over("Succeeded, by wave", "How fast a wave gets through its Clusters.", "short", query{clusters("wave", "Succeeded"), "{{wave}}"}),
		over("Clusters, by state", "Of the chosen waves.", "short",
			query{`sum by (state) (max by (wave, state) (ccm_migration_fleet_clusters` + chosen + `))`, "{{state}}"}).stacked(),
		over("Nodes, by the state of their Cluster", "Of the chosen waves, as far as they are known.", "short",
			query{`sum by (state) (max by (wave, state) (ccm_migration_fleet_nodes` + chosen + `))`, "{{state}}"}).stacked(),
	}
}

func fleetWaits() []panel {
	const of, chosen = `{fleet_migration="$fleet_migration"}`, `{fleet_migration="$fleet_migration", wave=~"$wave"}`
	return []panel{
		over("Clusters that wait, by reason", "A Cluster may wait for several things and counts to the first. "+
			"'fleet why' says who ends it.", "short",
			query{`sum by (reason) (max by (wave, reason) (ccm_migration_fleet_waiting_clusters` + chosen + `))`, "{{reason}}"}).stacked(),
		bars("Use of budgets", "Of the 20 fullest. More than 100 % of Clusters needs someone; "+
			"a Cluster with more Nodes than a whole budget goes alone.", "percentunit", query{
			`max by (budget, value, unit) (ccm_migration_fleet_budget_used` + of + `)` +
				` / max by (budget, value, unit) (ccm_migration_fleet_budget_limit` + of + `)`, "{{budget}} {{value}} ({{unit}})",
		}).from(0.8, 1.01).page("alerts.md#fleetmigrationbudgetexceeded"),
		strip("Windows", "While no window is open, no Cluster starts.",
			query{`max by (window) (ccm_migration_fleet_window_open` + of + `)`, "{{window}}"}).
			means(shown{"Closed", "gray"}, shown{"Open", "green"}).page("runbooks/NoWindowAhead.md"),
		now("Windows change", "When each window opens or closes next.", "dateTimeFromNow",
			query{`1000 * max by (window) (ccm_migration_fleet_window_next_change_timestamp_seconds` + of + `)`, "{{window}}"}).wide(12),
	}
}

func fleetFailures() []panel {
	const of = `{fleet_migration="$fleet_migration"}`
	return []panel{
		over("Failures that count, and their limit", "One more than the limit halts the FleetMigration.", "short",
			query{`max by (wave) (ccm_migration_fleet_failures` + of + `)`, "{{wave}}"},
			query{`max by (wave) (ccm_migration_fleet_failures_limit` + of + `)`, "limit of {{wave}}"}).
			page("runbooks/MaxFailuresExceeded.md"),
		over("New failures, by reason", "Within an hour.", "short",
			query{`sum by (reason) (increase(ccm_migration_fleet_failures_total` + of + `[1h]))`, "{{reason}}"}).
			stacked().page("operations.md#runbooks"),
		list("Clusters that need a person", "A click opens the dashboard of the Cluster. Needs kube-state-metrics.",
			"dateTimeAsIso", "since", `1000 * max by (namespace, name, reason) (`+
				`ccm_migration_cluster_condition_timestamp_seconds{type="Stalled", status="True"})`).opens().page("operations.md#runbooks"),
	}
}

func fleetDurations() []panel {
	const matching = `fleet_migration="$fleet_migration"`
	const of = `{` + matching + `}`
	return []panel{
		over("Starts and successes within an hour", "spec.maxStartsPerHour limits the starts.", "short",
			query{`sum(increase(ccm_migration_fleet_admissions_total` + of + `[1h]))`, "starts"},
			query{`sum(increase(ccm_migration_fleet_successes_total` + of + `[1h]))`, "successes"}),
		quantiles("From admission to success", "Of the Clusters that succeeded within a day. "+
			"One that takes longer than spec.failures.progressDeadlineSeconds counts as failed.",
			"ccm_migration_fleet_cluster_duration_seconds", matching, "wave", "1d"),
		quantiles("From an open wave to admission", "How long Clusters waited that were admitted within a day.",
			"ccm_migration_fleet_admission_wait_seconds", matching, "wave", "1d"),
		quantiles("Until waves were approved", "Of approvals within a week: how long they waited for a person.",
			"ccm_migration_fleet_approval_wait_seconds", matching, "wave", "7d").page("runbooks/AwaitingApproval.md"),
	}
}

// quantiles of a histogram by a label, if any, over a time that has enough observations.
func quantiles(title, description, metric, matchers, by, within string) panel {
	of, legend, labels := ` (rate(`+metric+`_bucket{`+matchers+`}[`+within+`])))`, "", "le"
	if by != "" {
		legend, labels = ", {{"+by+"}}", "le, "+by
	}
	return over(title, description, "s",
		query{"histogram_quantile(0.5, sum by (" + labels + ")" + of, "half" + legend},
		query{"histogram_quantile(0.95, sum by (" + labels + ")" + of, "95 %" + legend})
}

func allClusters() []panel {
	return []panel{
		now("Cloud loops unattended", "No manager runs the cloud loops: no new Node and no new load balancer works.", "short",
			query{`sum(ccm_migration_clusters_unattended)`, ""}).from(0, 1).page("runbooks/CloudLoopsUnattended.md"),
		now("Cannot be reached", "Of the Clusters that are connected to. So many at once are rarely a fault of the Clusters.",
			"percentunit", query{
				`sum(ccm_migration_clusters_reachable{status!="True"}) / sum(ccm_migration_clusters_reachable)`, "",
			}).from(0.01, 0.05).page("runbooks/Unreachable.md"),
		now("Migrates for the longest time", "Of the Clusters that have begun and have not completed.", "s",
			query{`time() - min(ccm_migration_oldest_start_timestamp_seconds)`, ""}).
			from(43200, 86400).page("alerts.md#ccmmigrationtakeslong"),
		now("Ready to migrate", "Clusters whose feature is off, by condition ReadyToMigrate.", "short",
			query{`sum by (status) (ccm_migration_clusters_ready_to_migrate)`, "{{status}}"}).wide(12).page("preflight.md#looking-ahead"),
		over("Clusters that need a person, by reason", "Those that have completed come first: they cannot be rolled back.", "short",
			query{`sum by (reason) (ccm_migration_clusters_stalled{migrated="true"})`, "{{reason}}, migrated"},
			query{`sum by (reason) (ccm_migration_clusters_stalled{migrated="false"})`, "{{reason}}"}).
			stacked().page("operations.md#runbooks"),
		over("Objectives missed within an hour", "The objective is 1 %. 14.4 % within an hour calls someone.", "percentunit",
			query{`ccm_migration:slo_missed:ratio_rate1h`, "{{indicator}}"}).from(0.06, 0.144).page("runbooks/SLOViolated.md"),
		over("Clusters, by state", "Also those of no FleetMigration.", "short",
			query{`sum by (state) (max by (state, provider) (ccm_migration_clusters))`, "{{state}}"}).stacked(),
		bars("Succeeded, by provider", "The share of the Clusters of each provider.", "percentunit", query{
			`max by (provider) (ccm_migration_clusters{state="Succeeded"})` +
				` / sum by (provider) (max by (state, provider) (ccm_migration_clusters))`, "{{provider}}",
		}),
	}
}
