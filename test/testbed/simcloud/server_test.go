package simcloud

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"
)

// callsTest is a sequence of calls, and the methods and errors of their log.
type callsTest struct {
	faults  []Fault
	steps   []step
	methods []string
	errors  []string
}

func TestObjects(t *testing.T) {
	runCalls(t, map[string]callsTest{
		"a load balancer that is put twice keeps its ID and IP": {
			steps: []step{
				{
					verb: "PUT", path: "/v1/clusters/alpha/loadbalancers/web", body: `{"hosts":["a"],"ports":[80]}`,
					method: "EnsureLoadBalancer", wantStatus: 201, wantBody: `"ip":"198.18.0.2"`,
				},
				{
					verb: "PUT", path: "/v1/clusters/alpha/loadbalancers/web", body: `{"hosts":["a","b"],"ports":[80]}`,
					method: "EnsureLoadBalancer", wantStatus: 200, wantBody: `"id":"lb-00000001","ip":"198.18.0.2","hosts":["a","b"]`,
				},
			},
			methods: []string{"CreateLoadBalancer", "UpdateLoadBalancer"}, errors: []string{"", ""},
		},
		"who updates a load balancer that is gone makes no new one": {
			steps: []step{
				{verb: "PUT", path: "/v1/clusters/alpha/loadbalancers/web", body: `{}`, method: "UpdateLoadBalancer", wantStatus: 404},
				{verb: "GET", path: "/v1/clusters/alpha/loadbalancers", method: "ListLoadBalancers", wantStatus: 200, wantBody: `[]`},
			},
			methods: []string{"UpdateLoadBalancer", "ListLoadBalancers"}, errors: []string{"not found", ""},
		},
		"the client's method names the call, and the verb when it says none": {
			steps: []step{
				{
					verb:       "POST",
					path:       "/v1/clusters/alpha/instances",
					body:       `{"name":"n1"}`,
					wantStatus: 201,
					wantBody:   `"providerID":"simcloud://alpha/n1"`,
				},
				{
					verb:       "GET",
					path:       "/v1/clusters/alpha/instances/n1",
					method:     "InstanceExists",
					wantStatus: 200,
					wantBody:   `"state":"running"`,
				},
				{verb: "GET", path: "/v1/clusters/alpha/instances", wantStatus: 200, wantBody: `[{"name":"n1"`},
				{verb: "DELETE", path: "/v1/clusters/alpha/instances/n1", wantStatus: 204},
			},
			methods: []string{"CreateInstance", "InstanceExists", "ListInstances", "DeleteInstance"}, errors: []string{"", "", "", ""},
		},
		"clusters do not see each other's objects": {
			steps: []step{
				{
					verb:       "POST",
					path:       "/v1/clusters/alpha/volumes",
					body:       `{"name":"v1","sizeGiB":3}`,
					wantStatus: 201,
					wantBody:   `"sizeGiB":3`,
				},
				{verb: "GET", path: "/v1/clusters/beta/volumes/v1", wantStatus: 404, wantBody: "not found"},
				{verb: "GET", path: "/v1/clusters/beta/volumes", wantStatus: 200, wantBody: `[]`},
			},
			methods: []string{"CreateVolume", "GetVolume", "ListVolumes"}, errors: []string{"", "not found", ""},
		},
	})
}

func TestRefusals(t *testing.T) {
	runCalls(t, map[string]callsTest{
		"refused calls are logged with their reason": {
			steps: []step{
				{verb: "GET", path: "/v1/clusters/alpha/routes", token: "wrong", wantStatus: 401},
				{verb: "GET", path: "/v1/clusters/gamma/routes", wantStatus: 403},
				{verb: "POST", path: "/v1/clusters/alpha/routes", body: `{`, wantStatus: 400},
				{verb: "POST", path: "/v1/clusters/alpha/routes", body: `{}`, wantStatus: 400, wantBody: "Route has no name"},
				{verb: "POST", path: "/v1/clusters/alpha/routes", body: `{"name":"r"}`, wantStatus: 201},
				{verb: "POST", path: "/v1/clusters/alpha/routes", body: `{"name":"r"}`, wantStatus: 409},
				{verb: "DELETE", path: "/v1/clusters/alpha/routes/other", wantStatus: 404},
			},
			methods: []string{"ListRoutes", "ListRoutes", "CreateRoute", "CreateRoute", "CreateRoute", "CreateRoute", "DeleteRoute"},
			errors: []string{
				"the token is not the cluster's", "no such cluster in the cloud", "the body is no Route: unexpected end of JSON input",
				"Route has no name", "", "Route exists already", "not found",
			},
		},
	})
}

func TestFaults(t *testing.T) {
	runCalls(t, map[string]callsTest{
		"a fault with a count ends after so many calls and leaves others alone": {
			faults: []Fault{{Cluster: "alpha", Method: "EnsureLoadBalancer", ErrorStatus: 503, Count: 1}},
			steps: []step{
				{verb: "GET", path: "/v1/clusters/alpha/loadbalancers/web", method: "GetLoadBalancer", wantStatus: 404},
				{verb: "PUT", path: "/v1/clusters/beta/loadbalancers/web", body: `{}`, method: "EnsureLoadBalancer", wantStatus: 201},
				{verb: "PUT", path: "/v1/clusters/alpha/loadbalancers/web", body: `{}`, method: "EnsureLoadBalancer", wantStatus: 503},
				{verb: "PUT", path: "/v1/clusters/alpha/loadbalancers/web", body: `{}`, method: "EnsureLoadBalancer", wantStatus: 201},
			},
			methods: []string{"GetLoadBalancer", "CreateLoadBalancer", "EnsureLoadBalancer", "CreateLoadBalancer"},
			errors:  []string{"not found", "", "injected fault: status 503", ""},
		},
		"a fault without a count lasts until faults are cleared": {
			steps: []step{
				{verb: "PUT", path: "/v1/faults", body: `{"errorStatus":200}`, wantStatus: 400},
				{verb: "PUT", path: "/v1/faults", body: `{"object":"n1","errorStatus":500}`, wantStatus: 204},
				{verb: "GET", path: "/v1/clusters/alpha/instances/n1", wantStatus: 500},
				{verb: "GET", path: "/v1/clusters/alpha/instances/n1", wantStatus: 500},
				{verb: "GET", path: "/v1/clusters/alpha/instances/n2", wantStatus: 404},
				{verb: "DELETE", path: "/v1/faults", wantStatus: 204},
				{verb: "GET", path: "/v1/clusters/alpha/instances/n1", wantStatus: 404},
			},
			methods: []string{"GetInstance", "GetInstance", "GetInstance", "GetInstance"},
			errors:  []string{"injected fault: status 500", "injected fault: status 500", "not found", "not found"},
		},
		"a missing instance is neither found nor listed but exists": {
			faults: []Fault{{Cluster: "alpha", InstanceMissing: []string{"n1"}}},
			steps: []step{
				{verb: "POST", path: "/v1/clusters/alpha/instances", body: `{"name":"n1"}`, wantStatus: 201},
				{verb: "GET", path: "/v1/clusters/alpha/instances/n1", wantStatus: 404},
				{verb: "GET", path: "/v1/clusters/alpha/instances", wantStatus: 200, wantBody: `[]`},
				{verb: "DELETE", path: "/v1/clusters/alpha/instances/n1", wantStatus: 204},
			},
			methods: []string{
				"CreateInstance",
				"GetInstance",
				"ListInstances",
				"DeleteInstance",
			},
			errors: []string{"", "not found", "", ""},
		},
	})
}

func runCalls(t *testing.T, tests map[string]callsTest) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, log := newServer()
			for _, fault := range tc.faults {
				s.AddFault(fault)
			}
			for _, st := range tc.steps {
				st.run(t, g, s)
			}
			var methods, errs []string
			for _, call := range log.calls(g) {
				methods, errs = append(methods, call.Method), append(errs, call.Error)
				g.Expect(call.Component).To(Equal("kube-controller-manager"))
				g.Expect(call.Instance).To(Equal("kcm-0"))
				g.Expect(call.Loop).To(Equal("service"))
			}
			g.Expect(methods).To(Equal(tc.methods))
			g.Expect(errs).To(Equal(tc.errors))
		})
	}
}

func TestLatency(t *testing.T) {
	tests := map[string]struct {
		giveUp     bool
		wantStatus int
		wantError  string
	}{
		"a slow call is answered when its latency has passed": {wantStatus: http.StatusCreated},
		"a call whose caller gave up is logged and changes nothing": {
			giveUp:     true,
			wantStatus: http.StatusRequestTimeout,
			wantError:  "the caller gave up",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			clock, log := clocktesting.NewFakeClock(start), &buffer{}
			s := New(Options{Log: log, Clock: clock})
			s.AddCluster("alpha", token)
			s.AddFault(Fault{LatencyMS: 2000})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w, done := httptest.NewRecorder(), make(chan struct{})
			go func() {
				defer close(done)
				call := step{verb: "POST", path: "/v1/clusters/alpha/instances", body: `{"name":"n1"}`}
				s.handler.ServeHTTP(w, call.request(ctx))
			}()
			g.Eventually(clock.HasWaiters).Should(BeTrue())
			if tc.giveUp {
				cancel()
			} else {
				clock.Step(2 * time.Second)
			}
			g.Eventually(done).Should(BeClosed())
			g.Expect(w.Code).To(Equal(tc.wantStatus))
			calls := log.calls(g)
			g.Expect(calls).To(HaveLen(1))
			g.Expect(calls[0].Time).To(Equal(start), "the log tells when the call came")
			g.Expect(calls[0].Error).To(Equal(tc.wantError))
			g.Expect(s.Snapshot("alpha").Instances).To(HaveLen(map[bool]int{true: 0, false: 1}[tc.giveUp]))
		})
	}
}

func TestOutage(t *testing.T) {
	g := NewWithT(t)
	s, _ := newServer()
	url, err := s.Start("127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = s.Stop() })
	_, err = s.Start("127.0.0.1:0")
	g.Expect(err).To(MatchError("simcloud runs already: stop it first"))
	step{verb: "POST", path: "/v1/clusters/alpha/instances", body: `{"name":"n1","zone":"z"}`, wantStatus: 201}.run(t, g, s)

	g.Expect(s.Stop()).To(Succeed())
	g.Expect(s.Stop()).To(Succeed())
	again, err := s.Start(url[len("http://"):])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(url))

	g.Expect(s.SetInstanceState("alpha", "n1", Stopped)).To(Succeed())
	g.Expect(s.SetInstanceState("alpha", "n2", Stopped)).To(MatchError(ContainSubstring(`no instance "n2"`)))
	g.Expect(s.SetInstanceState("gamma", "n1", Stopped)).To(MatchError(ContainSubstring(`cluster "gamma" is not known`)))
	g.Expect(s.Snapshot("gamma")).To(Equal(Snapshot{}))
	g.Expect(s.Snapshot("alpha").Instances).To(ConsistOf(Instance{
		Name: "n1", ID: "i-00000001", ProviderID: "simcloud://alpha/n1", Addresses: []string{"10.96.0.2"},
		Zone: "z", Region: "sim-1", Type: "sim.small", State: Stopped,
	}))
}
