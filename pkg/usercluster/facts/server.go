package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/utils/clock"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

const readingVersion = "reading the API server's version"

// ServerVersion is that of the API server which answers, such as v1.30.14; of several it may be any.
func (r *Reader) ServerVersion(ctx context.Context) observation.Observed[string] {
	answered := r.network.version(ctx, r.clock)
	if answer, known := answered.Get(); known {
		return observation.Known(answer.version)
	}
	return observation.Unknown[string](answered.Why())
}

// versionAnswer is what an API server answered, and when it was asked, half-way to its answer.
type versionAnswer struct {
	version string
	header  http.Header
	between time.Time
}

// version asks each time.
func (n *Network) version(ctx context.Context, clock clock.PassiveClock) observation.Observed[versionAnswer] {
	if n == nil {
		return observation.Unknown[versionAnswer]("the session has no connection")
	}
	ctx, cancel := context.WithTimeout(ctx, reads.RequestTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.Probe.Get().AbsPath("/version").URL().String(), nil)
	if err != nil {
		return observation.Unknown[versionAnswer](reads.Because(readingVersion, err))
	}
	before := clock.Now()
	response, err := n.HTTP.Do(request)
	if err != nil {
		return observation.Unknown[versionAnswer](reads.Because(readingVersion, err))
	}
	defer func() { _ = response.Body.Close() }()
	between := before.Add(clock.Now().Sub(before) / 2)
	info := version.Info{}
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&info); err != nil ||
		response.StatusCode != http.StatusOK {
		return observation.Unknown[versionAnswer](
			fmt.Sprintf("%s: it answered with status %d, or no JSON", readingVersion, response.StatusCode),
		)
	}
	return observation.Known(versionAnswer{version: info.GitVersion, header: response.Header, between: between})
}
