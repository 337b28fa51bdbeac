package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// longestLine of a log that can be read; requests are logged without their content.
const longestLine = 1 << 20

// policy has every request in the log, once and without its content. With userGroups behind it, it leaves out others.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// Log is the audit log of one API server.
type Log struct{ path string }

// New writes the policy of a log into a folder: the requests of users of these groups are logged, or all when none is
// named. In mode blocking, the default, a request is answered when it is in the log.
// https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/
func New(folder string, groups ...string) (Log, error) {
	log := Log{path: filepath.Join(folder, "audit.log")}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return log, err
	}
	content := policy
	if len(groups) > 0 {
		content += fmt.Sprintf("  userGroups: [%s]\n", strings.Join(groups, ", "))
	}
	return log, os.WriteFile(log.policyFile(), []byte(content), 0o600)
}

func (l Log) policyFile() string { return filepath.Join(filepath.Dir(l.path), "audit-policy.yaml") }

// Flags of the API server: their names, without dashes, and values. A log that was begun again would have no marks any more.
func (l Log) Flags() map[string]string {
	const megabytes = "10000"
	return map[string]string{"audit-policy-file": l.policyFile(), "audit-log-path": l.path, "audit-log-maxsize": megabytes}
}

// Mark is where the log ends now.
func (l Log) Mark() (int64, error) {
	info, err := os.Stat(l.path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Since are the requests behind a mark. One that is being written is left out.
func (l Log) Since(mark int64) ([]Event, error) {
	file, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if now, err := l.Mark(); err != nil || now < mark {
		return nil, errors.Join(err, fmt.Errorf("%s is shorter than it was", l.path))
	}
	if _, err := file.Seek(mark, 0); err != nil {
		return nil, err
	}
	var events []Event
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		event := Event{}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			if !lines.Scan() {
				break
			}
			return nil, fmt.Errorf("%s: %w", l.path, err)
		}
		events = append(events, event)
	}
	return events, lines.Err()
}

// Event is one request.
type Event struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ImpersonatedUser *struct {
		Username string `json:"username"`
	} `json:"impersonatedUser"`
	UserAgent string `json:"userAgent"`
	// ReceivedAt is when the request came.
	ReceivedAt time.Time `json:"requestReceivedTimestamp"`
	// ObjectRef is left out where a path is of no resource, such as /version.
	ObjectRef *struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
}

// Resource is resource/subresource, or the path where that is of none.
func (e Event) Resource() string {
	switch {
	case e.ObjectRef == nil:
		path, _, _ := strings.Cut(e.RequestURI, "?")
		return path
	case e.ObjectRef.Subresource != "":
		return e.ObjectRef.Resource + "/" + e.ObjectRef.Subresource
	}
	return e.ObjectRef.Resource
}

// Who sent it, or on whose behalf.
func (e Event) Who() string {
	if e.ImpersonatedUser != nil {
		return e.ImpersonatedUser.Username
	}
	return e.User.Username
}

// Writes says whether it may change something when it is no dry run.
func (e Event) Writes() bool {
	switch e.Verb {
	case "get", "list", "watch":
		return false
	}
	return true
}

// Dry says that it changes nothing.
func (e Event) Dry() bool { return strings.Contains(e.RequestURI, "dryRun=All") }

// Count the requests of one user: all, writes that were dry, and what each other write was.
func Count(events []Event, who string) (all, dry int, writes []string) {
	for _, event := range events {
		if event.Who() != who {
			continue
		}
		all++
		switch {
		case event.Writes() && event.Dry():
			dry++
		case event.Writes():
			writes = append(writes, event.Verb+" "+event.RequestURI)
		}
	}
	return all, dry, writes
}

// Requests counts them by resource and verb.
type Requests map[string]map[string]int

// RequestsOf a program: its user agent begins with the name.
func RequestsOf(events []Event, program string) Requests {
	requests := Requests{}
	for _, event := range events {
		if !strings.HasPrefix(event.UserAgent, program) {
			continue
		}
		resource := event.Resource()
		if requests[resource] == nil {
			requests[resource] = map[string]int{}
		}
		requests[resource][event.Verb]++
	}
	return requests
}

// Reads are GET, LIST and reviews: what a watch could save.
func (r Requests) Reads() (reads int) {
	for resource, verbs := range r {
		reads += verbs["get"] + verbs["list"]
		if strings.HasSuffix(resource, "reviews") {
			reads += verbs["create"]
		}
	}
	return reads
}

// All requests together.
func (r Requests) All() (all int) {
	for _, verbs := range r {
		for _, count := range verbs {
			all += count
		}
	}
	return all
}
