package main

// ours is the manager, among all programs that are made with controller-runtime.
const ours = `job="$job"`

// controller is for the operator of the manager.
func controller() dashboard {
	return dashboardOf("ccm-migration-controller", "CCM migration: controller",
		"Whether a manager leads, what it does, and what it costs.",
		[]variable{choice("job", "Job", "label_values(ccm_migration_clusters_unattended, job)")},
		section{"Now", controllerNow()}, section{"What it does", controllerActs()}, section{"Reconciles", controllerReconciles()},
		section{"Clients and webhooks", controllerEdges()}, section{"Process", controllerProcess()},
	)
}

func controllerNow() []panel {
	return []panel{
		now("Managers", "Pods that serve metrics. Without one, migrations stand still.", "short", query{`sum(up{` + ours + `})`, ""}).
			below(1).page("alerts.md#ccmmigrationmanagerdown"),
		names("Leader", "The pod that acts. The others only wait.",
			query{`max by (pod) (leader_election_master_status{` + ours + `}) == 1`, "{{pod}}"}).page("operations.md"),
		now("Fields that the definition lacks", "The API server drops what it does not know: apply the definitions of this release.",
			"short", query{`max(ccm_migration_definition_missing_fields{` + ours + `})`, ""}).
			from(0, 1).page("alerts.md#ccmmigrationdefinitionoutdated"),
		now("Since the last decision about fleets", "The manager that leads decides at least every 15 minutes.", "s",
			query{`time() - max(ccm_migration_fleet_last_decision_timestamp_seconds{` + ours + `})`, ""}).
			from(1200, 2700).page("alerts.md#fleetmigrationdecisionstale"),
		now("Panics within a day", "A pass that panics leaves its Cluster as it is, and calls a person.", "short",
			query{`sum(increase(controller_runtime_reconcile_panics_total{` + ours + `}[1d]))`, ""}).
			from(0, 1).page("runbooks/InternalError.md"),
		now("Restarts within a day", "Of the manager in pods that stay. The log of the one before says why it ended.", "short",
			query{`sum(changes(process_start_time_seconds{` + ours + `}[1d]))`, ""}).from(1, 5).page("operations.md"),
		strip("Leader over time", "A gap is a time in which no manager led.",
			query{`max by (pod) (leader_election_master_status{` + ours + `})`, "{{pod}}"}).
			means(shown{"Waits", "gray"}, shown{"Leads", "green"}).wide(across).page("operations.md"),
	}
}

func controllerActs() []panel {
	return []panel{
		over("Changes, by action", "What was changed in both clusters within an hour.", "short",
			query{`sum by (action) (increase(ccm_migration_actions_total{` + ours + `, result="done"}[1h]))`, "{{action}}"}).stacked(),
		over("Changes that failed, by action", "More than 10 of a kind within 30 minutes call someone.", "short",
			query{`sum by (action) (increase(ccm_migration_actions_total{` + ours + `, result="error"}[30m]))`, "{{action}}"}).
			from(1, 10).page("runbooks/CouldNotAct.md"),
		over("Clusters that began to need a person", "Within an hour, by reason.", "short",
			query{`sum by (reason) (increase(ccm_migration_stalled_total{` + ours + `}[1h]))`, "{{reason}}"}).
			stacked().page("operations.md#runbooks"),
		quantiles("How long a step was current", "Of the steps that ended within a day. The longest ones wait for people or Machines.",
			"ccm_migration_step_duration_seconds", ours, "step", "1d").page("migration.md"),
		over("Looks ahead within an hour", "At user clusters whose feature is off. Those that are not reached cannot start.", "short",
			query{`sum by (reached) (increase(ccm_migration_look_ahead_total{` + ours + `}[1h]))`, "reached: {{reached}}"}).
			stacked().page("runbooks/Unreachable.md"),
		over("Requests for each look ahead", "What a look costs a user cluster.", "short", query{
			`sum(rate(ccm_migration_look_ahead_requests_total{` + ours + `}[1h]))` +
				` / sum(rate(ccm_migration_look_ahead_total{` + ours + `}[1h]))`, "requests",
		}),
		quantiles("How long a decision about fleets takes", "About all Clusters.",
			"ccm_migration_fleet_decision_duration_seconds", ours, "", "1h").wide(across),
	}
}

func controllerReconciles() []panel {
	const rate = `[$__rate_interval]))`
	return []panel{
		over("Passes, by controller and result", "Each pass looks at one object.", "ops",
			query{`sum by (controller, result) (rate(controller_runtime_reconcile_total{` + ours + `}` + rate, "{{controller}} {{result}}"}).
			stacked(),
		over("Passes that failed", "Their errors are in the log of the leader.", "ops",
			query{`sum by (controller) (rate(controller_runtime_reconcile_errors_total{` + ours + `}` + rate, "{{controller}}"}).
			page("runbooks/CouldNotAct.md"),
		quantiles("How long a pass takes", "User clusters that answer late show here.",
			"controller_runtime_reconcile_time_seconds", ours, "controller", "$__rate_interval"),
		over("Workers that are busy", "At 100 %, objects wait for a worker.", "percentunit", query{
			`sum by (controller) (controller_runtime_active_workers{` + ours + `})` +
				` / sum by (controller) (controller_runtime_max_concurrent_reconciles{` + ours + `})`, "{{controller}}",
		}).from(0.8, 1),
		over("Objects that wait in the queue", "A queue that grows for an hour is too long for its workers.", "short",
			query{`sum by (name) (workqueue_depth{` + ours + `})`, "{{name}}"}),
		quantiles("How long objects wait in the queue", "Before a worker takes them.",
			"workqueue_queue_duration_seconds", ours, "name", "$__rate_interval"),
		over("The pass that runs for the longest time", "A pass of minutes hangs in a user cluster that does not answer.", "s",
			query{`max by (name) (workqueue_longest_running_processor_seconds{` + ours + `})`, "{{name}}"}).
			from(60, 300).page("runbooks/Unreachable.md"),
		over("Retries", "Objects that came back to the queue after an error.", "ops",
			query{`sum by (name) (rate(workqueue_retries_total{` + ours + `}` + rate, "{{name}}"}),
	}
}

func controllerEdges() []panel {
	const rate = `[$__rate_interval]))`
	return []panel{
		over("Requests to API servers, by answer", "Of the management cluster and of user clusters.", "reqps",
			query{`sum by (code) (rate(rest_client_requests_total{` + ours + `}` + rate, "{{code}}"}).stacked(),
		over("Requests that failed", "Rights that are missing, conflicts, overload, no answer (<error>); not what is not there (404).",
			"reqps", query{
				`sum by (method, code) (rate(rest_client_requests_total{` + ours + `, code!~"[123]..|404"}` + rate, "{{method}} {{code}}",
			}).
			page("runbooks/CouldNotLook.md"),
		over("Answers of the webhooks", "Other codes than 200 refuse edits of Clusters.", "reqps",
			query{`sum by (webhook, code) (rate(controller_runtime_webhook_requests_total{` + ours + `}` + rate, "{{webhook}} {{code}}"}),
		quantiles("How long webhooks take", "The API server waits for them.",
			"controller_runtime_webhook_latency_seconds", ours, "webhook", "$__rate_interval").from(1, 5),
		over("Certificates that could not be read", "Of the webhooks and the metrics, within an hour.", "short",
			query{`sum(increase(certwatcher_read_certificate_errors_total{` + ours + `}[1h]))`, "errors"}).from(0, 1).wide(across),
	}
}

func controllerProcess() []panel {
	return []panel{
		over("Memory", "Of each pod. Connections to user clusters are most of it.", "bytes",
			query{`max by (pod) (process_resident_memory_bytes{` + ours + `})`, "{{pod}}"},
			query{`max by (pod) (go_memstats_heap_inuse_bytes{` + ours + `})`, "{{pod}}, heap"}),
		over("Processors", "How many each pod keeps busy.", "short",
			query{`sum by (pod) (rate(process_cpu_seconds_total{` + ours + `}[$__rate_interval]))`, "{{pod}}"}),
		over("Goroutines", "A number that only grows is a leak.", "short",
			query{`max by (pod) (go_goroutines{` + ours + `})`, "{{pod}}"}),
		over("Open files", "The share of those that a pod may open. Each connection is one.", "percentunit", query{
			`max by (pod) (process_open_fds{` + ours + `}) / max by (pod) (process_max_fds{` + ours + `})`, "{{pod}}",
		}).from(0.7, 0.9),
	}
}
