package loops

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const metric = "running_managed_controllers"

// watch samples one process, in a goroutine of its own: one that hangs delays
// no other.
type watch struct {
	sampler *Sampler
	process process
	cluster string
	end     context.CancelFunc
	client  *http.Client
	// running are the loops that the last sample said to run.
	running map[string]bool
}

// run samples until alive ends. When it ended before sampling did, it was the
// process that ended, and each loop that ran has ended with it.
func (w *watch) run(sampling, alive context.Context) {
	defer w.end()
	clock := w.sampler.options.Clock
	ticker := clock.NewTicker(w.sampler.options.Interval)
	defer ticker.Stop()
	for {
		asked := clock.Now()
		if loops, err := w.read(alive); alive.Err() == nil {
			w.account(asked, err)
			if err == nil {
				w.record(asked, loops)
			}
		}
		select {
		case <-ticker.C():
		case <-alive.Done():
			if sampling.Err() == nil {
				w.record(clock.Now(), nil)
			}
			w.close()
			return
		}
	}
}

// account writes that the process was asked, and whether it answered.
func (w *watch) account(at time.Time, failure error) {
	read := Read{Time: at, Cluster: w.cluster, Component: w.process.component(), Instance: w.process.Pod, PID: w.process.PID}
	if failure != nil {
		read.Error = failure.Error()
	}
	w.sampler.write(w.sampler.options.Reads, read)
}

// record writes what runs, and once what no longer does.
func (w *watch) record(at time.Time, loops map[string]bool) {
	for loop := range w.running {
		if !loops[loop] {
			w.write(at, loop, false)
		}
	}
	for loop := range loops {
		w.write(at, loop, true)
	}
	w.running = loops
}

func (w *watch) write(at time.Time, loop string, running bool) {
	w.sampler.write(w.sampler.options.Out, Sample{
		Time: at, Cluster: w.cluster, Component: w.process.component(), Instance: w.process.Pod,
		Loop: loop, Running: running,
	})
}

// read returns the loops that run now.
func (w *watch) read(alive context.Context) (map[string]bool, error) {
	if err := w.connect(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(alive, w.sampler.options.Timeout)
	defer cancel()
	url := "https://" + net.JoinHostPort(w.process.IP, w.process.port()) + "/metrics"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make a request for %s: %w", w.process.Pod, err)
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read metrics of %s: %w", w.process.Pod, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read metrics of %s: status %s", w.process.Pod, response.Status)
	}
	return parseLoops(bufio.NewScanner(response.Body))
}

func (w *watch) connect() error {
	if w.client != nil {
		return nil
	}
	config := w.sampler.options.TLS(w.cluster)
	if config == nil {
		return fmt.Errorf("no client certificate for cluster %s yet", w.cluster)
	}
	config = config.Clone()
	config.InsecureSkipVerify = true
	w.client = &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableCompression: true}}
	return nil
}

func (w *watch) close() {
	if w.client != nil {
		w.client.CloseIdleConnections()
	}
}

// parseLoops parses the lines of one metric only: there are thousands of
// others, and this happens twice a second for each manager.
func parseLoops(lines *bufio.Scanner) (map[string]bool, error) {
	var ours strings.Builder
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), metric+"{") {
			ours.WriteString(lines.Text() + "\n")
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(ours.String()))
	if err != nil {
		return nil, fmt.Errorf("parse metric %s: %w", metric, err)
	}
	loops := map[string]bool{}
	for _, series := range families[metric].GetMetric() {
		for _, label := range series.GetLabel() {
			if label.GetName() == "name" && series.GetUntyped().GetValue() == 1 {
				loops[label.GetValue()] = true
			}
		}
	}
	return loops, nil
}
