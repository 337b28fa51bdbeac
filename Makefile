SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Everything that is built ends here.
BIN := $(CURDIR)/_output/bin
TOOL := go tool -modfile=$(CURDIR)/hack/tools/go.mod
IMAGE ?= ccm-migration-controller:latest
# Arguments for the programs that make run, testbed, demo, handover, hazards, control-planes and mutants start.
ARGS ?=
# Repeats what a run of demo, testbed, handover or hazards left to chance; it prints its own.
SEED ?=
SEEDED = $(if $(SEED),--seed=$(SEED))
# envtest and the testbed take etcd and kube-apiserver from here.
export KUBEBUILDER_ASSETS := $(BIN)
# Compilers and linkers live for seconds: without garbage collection they take an eighth less CPU. The limit is for each.
export GOFLAGS := $(GOFLAGS) "-toolexec=env GOGC=off GOMEMLIMIT=2GiB"

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"; printf "Usage: make \033[36m<target>\033[0m\n"} \
		/^[a-z0-9-]+:.*##/ {printf "  \033[36m%-22s\033[0m %s\n", $$1, $$2} \
		/^##@/ {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)}' $(MAKEFILE_LIST)

##@ See it

.PHONY: demo
demo: binaries-demo ## Set everything up and migrate four user clusters; the first time builds for minutes.
	$(BIN)/testbed demo $(SEEDED) $(ARGS)

# How many hand-overs of make handover are disturbed at random; without it the scenarios are played: those whose names
# match the regular expression SCENARIOS.
N ?=
SCENARIOS ?=
.PHONY: handover
handover: binaries-demo ## Measure hand-overs that are disturbed in many ways; N=100 plays as many random ones.
	$(BIN)/testbed handover $(if $(N),--random=$(N) --beside=6) $(if $(SCENARIOS),--run='$(SCENARIOS)') $(SEEDED) $(ARGS)

# Hazards are made in the clusters whose names match the regular expression HAZARDS.
HAZARDS ?=
.PHONY: hazards
hazards: binaries-demo ## Make what preflight warns of on purpose, and see whether that happens.
	$(BIN)/testbed hazards $(if $(HAZARDS),--run='$(HAZARDS)') $(SEEDED) $(ARGS)

HELM = $$(go tool -modfile=$(CURDIR)/hack/tools/helm/go.mod -n helm)
.PHONY: chart-demo
chart-demo: binaries-demo ## Play the demo with a manager that Helm installed from the chart.
	$(BIN)/testbed demo --helm="$(HELM)" $(SEEDED) $(ARGS)

.PHONY: fleet-demo
fleet-demo: binaries-demo ## Move eight user clusters in waves, with a halt, an approval, and a window that closes in the middle.
	$(BIN)/testbed fleet $(SEEDED) $(ARGS)

.PHONY: dashboards-demo
dashboards-demo: binaries-test ## Play the fleet's demo with Prometheus and kube-state-metrics, and ask each query of the dashboards.
	cd test/prometheus && go build -tags=remove_all_sd -o $(BIN)/prometheus github.com/prometheus/prometheus/cmd/prometheus
	cd test/kubestatemetrics && go build -o $(BIN)/kube-state-metrics k8s.io/kube-state-metrics/v2
	cd test/prometheus && go test -count=1 -timeout=30m -v -tags="remove_all_sd dashboardsdemo" -run=TestADemo .

.PHONY: testbed
testbed: binaries-demo ## Start the same clusters and leave them running, to use kubectl by hand.
	$(BIN)/testbed up $(SEEDED) $(ARGS)

.PHONY: tutorial
tutorial: binaries-test ## Run the commands of docs/tutorial.md, and compare what they print.
	go test -count=1 -timeout=45m -v -tags=tutorial -run=TestTheTutorial ./test/tutorial

.PHONY: run
run: ## Run the manager against the current kubeconfig.
	go run . manager --webhook-certificates=none $(ARGS)

##@ Develop

.PHONY: generate
generate: ## Generate code, CRDs, RBAC and the webhook configuration.
	hack/generate.sh

.PHONY: test-unit
test-unit: ## Run the tests that need no built program: for every change.
	@hack/test.sh unit

.PHONY: test
test: binaries-test ## Run those, the API server's, those of the testbed and the core of the end-to-end tests.
	@hack/test.sh test

.PHONY: test-all
test-all: binaries-test ## Run all tests, as CI does.
	@hack/test.sh all

# What takes too long for CI. Each is a target of its own; here each says in docs/tested-with.md how it ended.
EXTRA := handover hazards mutants fuzz simulation integration-race large-cluster large-queue conformance-addons control-planes \
	oldest-handover across-minors command-lines kcm-releases e2e-volumes e2e-vcsim fleet-demo chart-demo dashboards-demo \
	release-twice test-dashboard tutorial
.PHONY: test-extra
test-extra: ## Run what is too long for CI, and write each result to docs/tested-with.md.
	@status=0; for target in $(EXTRA); do hack/tested-with.sh "$$target" make "$$target" || status=1; done; exit $$status

# Releases whose modules build with our Go: of the minors of the catalogue, and of those before 1.30 with in-tree providers.
CATALOGUE_RELEASES ?= 1.31.4 1.32.5 1.33.13 1.34.4 1.35.4 1.36.4
OLDER_RELEASES ?= 1.25.0 1.28.15 1.29.15
# The last minor with OpenStack in-tree has other names, flags and gates than those of today. The first release of it: not every
# module of the last one could be had from the proxy.
OLDEST_RELEASE ?= 1.25.0
OLDEST_NEXT_RELEASE ?= 1.26.0
.PHONY: conformance-addons
conformance-addons: binaries-demo ## Prove the catalogue on the kube-apiserver of every minor from 1.30 on.
	go test -count=1 ./test/conformance/addons
	@for release in $(CATALOGUE_RELEASES); do \
		hack/binaries.sh _output/$$release apiserver $$release; echo "kube-apiserver $$release"; \
		TEST_ASSET_KUBE_APISERVER=$(CURDIR)/_output/$$release/kube-apiserver go test -count=1 ./test/conformance/addons; \
	done

.PHONY: control-planes
control-planes: ## Play the demo with control planes of older minors that had in-tree providers.
	@for release in $(OLDER_RELEASES); do \
		hack/binaries.sh _output/$$release demo $$release; _output/$$release/testbed demo $(ARGS); \
	done

.PHONY: oldest-handover
oldest-handover: ## Hand over by each protocol with control planes of the oldest minor.
	@hack/binaries.sh _output/$(OLDEST_RELEASE) demo $(OLDEST_RELEASE)
	@_output/$(OLDEST_RELEASE)/testbed handover --run='^(fenced|serialized|leadermigration)-kcm-3-lease-15$$' $(ARGS)

# A release of the minor before the testbed's, from which a control plane is upgraded in the middle of a hand-over.
ACROSS_FROM ?= 1.29.15
.PHONY: across-minors
across-minors: binaries-demo ## Hand over from the KCM of one minor to the CCM of the next one, while the control plane is upgraded.
	@hack/binaries.sh _output/$(ACROSS_FROM) demo $(ACROSS_FROM)
	TEST_OLDER=$(ACROSS_FROM) go test -count=1 -timeout=10m -tags=acrossminors -run ControlPlaneIsUpgraded ./test/testbed/bed
	$(BIN)/testbed handover --across=$(ACROSS_FROM) $(if $(SCENARIOS),--run='$(SCENARIOS)') $(SEEDED) $(ARGS)

.PHONY: command-lines
command-lines: binaries-test ## Run the oldest minor with each command line of a migration, and the next one with the last of them.
	@for release in $(OLDEST_RELEASE) $(OLDEST_NEXT_RELEASE); do hack/binaries.sh _output/$$release demo $$release; done
	TEST_RELEASE=$(CURDIR)/_output/$(OLDEST_RELEASE) TEST_NEXT_RELEASE=$(CURDIR)/_output/$(OLDEST_NEXT_RELEASE) \
		go test -count=1 -v -tags=commandlines -run CommandLines ./test/conformance/releases

.PHONY: e2e-volumes
e2e-volumes: binaries-demo ## Migrate with real volumes: a CSI driver of the testbed, and sidecars that others wrote.
	@hack/binaries.sh $(BIN) volumes
	go test -count=1 -timeout=30m -v -tags=volumes ./test/e2e/volumes -args -ginkgo.timeout=29m $(if $(SEED),-ginkgo.seed=$(SEED))

# The last minor with vSphere in-tree; of the oldest one, CSI migration can be off.
VSPHERE_RELEASE ?= 1.29.15
VCSIM := go test -count=1 -timeout=15m -v -tags=vcsim
VCSIM_ARGS = -args -ginkgo.timeout=14m -ginkgo.v $(if $(SEED),-ginkgo.seed=$(SEED))
.PHONY: e2e-vcsim
e2e-vcsim: binaries-demo ## Show what KCM as released and CSI migration do to volumes of vSphere, in a simulated vCenter.
	@hack/binaries.sh $(BIN) volumes
	@for release in $(OLDEST_RELEASE) $(VSPHERE_RELEASE); do \
		hack/binaries.sh _output/vcsim/$$release controllers $$release; \
		ln -sf $(BIN)/etcd $(BIN)/v*/csi-attacher _output/vcsim/$$release; \
	done
	KUBEBUILDER_ASSETS=$(CURDIR)/_output/vcsim/$(OLDEST_RELEASE) \
		$(VCSIM) -ldflags="-X $(BED).KubernetesVersion=$(OLDEST_RELEASE)" ./test/e2e/vcsim $(VCSIM_ARGS) -ginkgo.label-filter=gated
	KUBEBUILDER_ASSETS=$(CURDIR)/_output/vcsim/$(VSPHERE_RELEASE) \
		$(VCSIM) -ldflags="-X $(BED).KubernetesVersion=$(VSPHERE_RELEASE)" ./test/e2e/vcsim $(VCSIM_ARGS) -ginkgo.label-filter=locked

# A release of KCM that is known as bad.
KCM_RELEASES ?= 1.31.0
.PHONY: kcm-releases
kcm-releases: binaries-test ## Run KCM of releases that are known as bad, with what a migration leaves and without.
	@for release in $(KCM_RELEASES); do \
		hack/binaries.sh _output/$$release controllers $$release; \
		TEST_RELEASE=$(CURDIR)/_output/$$release go test -count=1 -v ./test/conformance/releases; \
	done

# Checkouts of github.com/kubermatic/machine-controller and, if it is to be the real one, too, operating-system-manager.
SOURCE ?=
OSM_SOURCE ?=
REAL := $(CURDIR)/_output/machine-controller
.PHONY: e2e-machine-controller
e2e-machine-controller: binaries-test ## Play the demo and the rolls with the real machine-controller in the checkout SOURCE.
	hack/machine-controller.sh $(BIN) $(REAL) "$(SOURCE)" $(if $(OSM_SOURCE),"$(OSM_SOURCE)")
	go test -count=1 -tags=realmachinecontroller -run 'RealMachineController' ./test/testbed/machinecontroller \
		-args -source="$(abspath $(SOURCE))" $(if $(OSM_SOURCE),-osm-source="$(abspath $(OSM_SOURCE))")
	$(REAL)/testbed demo $(SEEDED) $(ARGS)
	KUBEBUILDER_ASSETS=$(REAL) go test -count=1 -timeout=60m -v ./test/e2e/roll \
		-args -ginkgo.timeout=59m -ginkgo.label-filter='breaker || objectives || plan' $(if $(SEED),-ginkgo.seed=$(SEED))
	KUBEBUILDER_ASSETS=$(REAL) go test -count=1 -timeout=20m -v -tags=realmachinecontroller -run 'RealMachineController' ./test/integration

# A provider, and a checkout of its CCM: of the tag that the catalogue has for the testbed's minor, and for openstack for its last
# in-tree minor.
PROVIDER ?=
PROVIDER_BIN := $(CURDIR)/_output/provider-$(PROVIDER)
BED := github.com/ccm-migration/ccm-migration-controller/test/testbed/bed
.PHONY: e2e-provider
e2e-provider: ## Run the CCM in the checkout SOURCE of PROVIDER=openstack (a whole migration), vsphere, azure, gcp or hetzner.
	hack/provider.sh $(PROVIDER_BIN) "$(PROVIDER)" "$(SOURCE)"
	KUBEBUILDER_ASSETS=$(PROVIDER_BIN) go test -count=1 -timeout=30m -v -tags=realprovider \
		$(if $(filter openstack,$(PROVIDER)),-ldflags="-X $(BED).KubernetesVersion=$(OLDEST_RELEASE)") ./test/e2e/provider \
		-args -ginkgo.v -ginkgo.label-filter='$(PROVIDER)' $(if $(SEED),-ginkgo.seed=$(SEED))

# Built first: go run would end with a line of its own, after the counts.
.PHONY: verify-images
verify-images: ## Ask the registries, which have to be reachable, for every image of the catalogue.
	@go build -o $(BIN)/images ./hack/images
	@$(BIN)/images

.PHONY: large-cluster
large-cluster: binaries-test ## Migrate a cluster of 5,000 Nodes, 20,000 Pods and 5,000 PersistentVolumes.
	go test -count=1 -timeout=20m -v -tags=largecluster -run 'LargeHealthyCluster' ./test/integration

.PHONY: large-queue
large-queue: binaries-test ## Count the requests of 200 Clusters that wait in a queue and cannot be connected to.
	go test -count=1 -timeout=20m -v -tags=largecluster -run 'LargeQueue' ./test/integration

.PHONY: fuzz
fuzz: ## Try 10,000 inputs in each fuzz test.
	@hack/fuzz.sh

# make test-all plays a fifth of them.
SEEDS ?= 5000
.PHONY: simulation
simulation: ## Play the simulation with SEEDS seeds.
	GOGC=off GOMEMLIMIT=3GiB go test -count=1 -timeout=120m ./pkg/simulation/simtest -args -seeds=$(SEEDS)

.PHONY: integration-race
integration-race: binaries-test ## Run the tests on API servers with the race detector.
	go test -race -count=1 -timeout=60m ./test/integration

.PHONY: test-dashboard
test-dashboard: binaries-test ## Look at the dashboard in Chromium; ARGS=-update takes the screenshots again.
	hack/dashboard.sh $(ARGS)

.PHONY: mutants
mutants: binaries-demo ## Break each safety rule on purpose and show that a test fails.
	go run ./test/mutants $(ARGS)

.PHONY: lint
lint: ## Lint all modules.
	$(TOOL) golangci-lint run ./...
	cd test/ocm && $$($(TOOL) -n golangci-lint) run --config=$(CURDIR)/.golangci.yml ./...
	cd test/gitops && $$($(TOOL) -n golangci-lint) run --config=$(CURDIR)/.golangci.yml ./...
	cd test/prometheus && $$($(TOOL) -n golangci-lint) run --config=$(CURDIR)/.golangci.yml ./...
	cd test/dashboard && $$($(TOOL) -n golangci-lint) run --config=$(CURDIR)/.golangci.yml ./...
	cd test/kubestatemetrics && $$($(TOOL) -n golangci-lint) run --config=$(CURDIR)/.golangci.yml ./...
	@# The flags of hack/binaries.sh, so that both share the build cache; the linter itself is built without them.
	cd test/kubernetes && linter=$$($(TOOL) -n golangci-lint) && GOFLAGS="$$GOFLAGS -trimpath -buildvcs=false" \
		"$$linter" run --config=$(CURDIR)/.golangci.yml ./...

.PHONY: fmt
fmt: ## Format the code and sort its imports.
	$(TOOL) golangci-lint fmt ./...

.PHONY: verify
verify: ## Fail when generated files, go.mod or go.sum are out of date.
	hack/verify/generated.sh
	hack/verify/modules.sh

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what the manager calls.
	$(TOOL) govulncheck ./...

##@ Build

.PHONY: build
build: ## Build the manager.
	@hack/binaries.sh $(BIN) manager

.PHONY: binaries-demo
binaries-demo: ## Build what the demo and the testbed run.
	@hack/binaries.sh $(BIN) demo

.PHONY: binaries-test
binaries-test: ## Build what the tests run: that of the demo, and programs that others wrote.
	@hack/binaries.sh $(BIN) test

.PHONY: image
image: ## Build the container image IMAGE.
	docker build --tag $(IMAGE) .

# The repository of the image that a release names, without a tag.
REPOSITORY ?= ccm-migration-controller
.PHONY: release
release: ## Make the files of release VERSION, a tag that is checked out: programs, manifests, chart, what they are made of, notes.
	go run ./hack/release --version="$(VERSION)" --image="$(REPOSITORY)" --out=_output/release/$(VERSION) $(ARGS)

.PHONY: release-twice
release-twice: ## Make all files of a release twice, in two clones, and compare them.
	cd hack/tools/release && go mod tidy -diff
	go test -count=1 -timeout=60m -v -tags=release ./hack/release

.PHONY: clean
clean: ## Remove everything that was built or written by the demo.
	rm -rf _output
