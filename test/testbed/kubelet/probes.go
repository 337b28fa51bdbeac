package kubelet

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// verdict is what a probe's results amount to.
type verdict int

const (
	undecided verdict = iota
	passing
	failing
)

// tally turns the results of one probe into a verdict by its thresholds.
type tally struct {
	successes, failures int32
	verdict             verdict
	streak              int32
	last                bool
}

func newTally(probe *corev1.Probe) *tally {
	return &tally{successes: max(probe.SuccessThreshold, 1), failures: atLeastOne(probe.FailureThreshold, 3)}
}

// add takes one result and tells whether the verdict changed.
func (t *tally) add(ok bool) bool {
	if t.streak > 0 && ok == t.last {
		t.streak++
	} else {
		t.streak = 1
	}
	t.last = ok
	before := t.verdict
	switch {
	case ok && t.streak >= t.successes:
		t.verdict = passing
	case !ok && t.streak >= t.failures:
		t.verdict = failing
	}
	return t.verdict != before
}

func atLeastOne(value, otherwise int32) int32 {
	if value < 1 {
		return otherwise
	}
	return value
}

// prober probes one running container until it is stopped.
type prober struct {
	container *corev1.Container
	ip        string
	changed   func()
	cancel    context.CancelFunc

	mu                         sync.Mutex
	startup, readiness, health verdict
}

// startProber probes a container that was just started; changed is called after
// every change of a verdict.
func startProber(ctx context.Context, container *corev1.Container, ip string, changed func()) *prober {
	p := &prober{container: container, ip: ip, changed: changed}
	ctx, p.cancel = context.WithCancel(ctx)
	if container.StartupProbe == nil {
		p.begin(ctx)
		return p
	}
	go p.probe(ctx, container.StartupProbe, func(v verdict) bool {
		if v == passing {
			p.begin(ctx)
		}
		p.set(&p.startup, v)
		return false
	})
	return p
}

// begin starts the probes that wait for the start-up probe.
func (p *prober) begin(ctx context.Context) {
	p.mu.Lock()
	p.startup = passing
	p.mu.Unlock()
	if p.container.LivenessProbe != nil {
		go p.probe(ctx, p.container.LivenessProbe, func(v verdict) bool {
			p.set(&p.health, v)
			return v != failing
		})
	}
	if p.container.ReadinessProbe == nil {
		p.set(&p.readiness, passing)
		return
	}
	go p.probe(ctx, p.container.ReadinessProbe, func(v verdict) bool {
		p.set(&p.readiness, v)
		return true
	})
}

func (p *prober) set(which *verdict, v verdict) {
	p.mu.Lock()
	*which = v
	p.mu.Unlock()
	p.changed()
}

func (p *prober) stop() { p.cancel() }

// started, ready and unhealthy are what the status and the restart policy need.
func (p *prober) started() bool { return p.is(&p.startup, passing) }
func (p *prober) ready() bool   { return p.is(&p.readiness, passing) }
func (p *prober) unhealthy() bool {
	return p.is(&p.startup, failing) || p.is(&p.health, failing)
}

func (p *prober) is(which *verdict, v verdict) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *which == v
}

// probe repeats one probe and hands every new verdict to decided, until that says
// it has heard enough.
func (p *prober) probe(ctx context.Context, probe *corev1.Probe, decided func(verdict) bool) {
	results := newTally(probe)
	timer := time.NewTimer(time.Duration(probe.InitialDelaySeconds) * time.Second)
	defer timer.Stop()
	period := time.Duration(atLeastOne(probe.PeriodSeconds, 10)) * time.Second
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(period)
		ok := p.once(ctx, probe) == nil
		if ctx.Err() != nil {
			return
		}
		if results.add(ok) && !decided(results.verdict) {
			return
		}
	}
}

// once runs a probe one time. There is no way into a process to execute a command,
// so such probes always pass.
func (p *prober) once(ctx context.Context, probe *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(atLeastOne(probe.TimeoutSeconds, 1))*time.Second)
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		return p.get(ctx, probe.HTTPGet)
	case probe.TCPSocket != nil:
		return p.dial(ctx, probe.TCPSocket.Host, probe.TCPSocket.Port)
	case probe.GRPC != nil:
		return p.dial(ctx, "", intstr.FromInt32(probe.GRPC.Port))
	}
	return nil
}

func (p *prober) dial(ctx context.Context, host string, port intstr.IntOrString) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.address(host, port))
	if err != nil {
		return err
	}
	return connection.Close()
}

func (p *prober) get(ctx context.Context, action *corev1.HTTPGetAction) error {
	target, err := url.Parse(action.Path)
	if err != nil {
		return err
	}
	target.Scheme = "http"
	if action.Scheme != "" {
		target.Scheme = strings.ToLower(string(action.Scheme))
	}
	target.Host = p.address(action.Host, action.Port)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	for _, header := range action.HTTPHeaders {
		request.Header.Add(header.Name, header.Value)
	}
	// A fresh connection each time, as the real kubelet's, and any certificate will do.
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

// address is where a probe connects; a port may be given by its name.
func (p *prober) address(host string, port intstr.IntOrString) string {
	if host == "" {
		host = p.ip
	}
	number := port.IntValue()
	for _, named := range p.container.Ports {
		if port.Type == intstr.String && named.Name == port.StrVal {
			number = int(named.ContainerPort)
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(number))
}
