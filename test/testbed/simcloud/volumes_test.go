package simcloud

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

const (
	volumeURL     = "/v1/clusters/alpha/volumes/v1"
	attachmentURL = volumeURL + "/attachment"
)

// withVolume are the first steps: two instances and a volume.
func withVolume(steps ...step) []step {
	return append([]step{
		{verb: "POST", path: "/v1/clusters/alpha/instances", body: `{"name":"n1"}`, wantStatus: 201},
		{verb: "POST", path: "/v1/clusters/alpha/instances", body: `{"name":"n2"}`, wantStatus: 201},
		{verb: "POST", path: "/v1/clusters/alpha/volumes", body: `{"name":"v1","sizeGiB":1}`, wantStatus: 201},
	}, steps...)
}

func TestAttachments(t *testing.T) {
	attach := func(instance string, status int, body string) step {
		return step{
			verb: "PUT", path: attachmentURL, body: `{"attachedTo":"` + instance + `"}`, method: "Ensure", wantStatus: status, wantBody: body,
		}
	}
	detach := func(instance, body string) step {
		return step{verb: "DELETE", path: attachmentURL, body: `{"attachedTo":"` + instance + `"}`, wantStatus: 200, wantBody: body}
	}
	get := func(body string) step { return step{verb: "GET", path: volumeURL, wantStatus: 200, wantBody: body} }
	tests := map[string][]step{
		"a volume is attached, once or again": {
			attach("n1", 200, `"attachedTo":"n1"`), attach("n1", 200, `"attachedTo":"n1"`), get(`"attachedTo":"n1"`),
		},
		"an attached volume is refused to a second instance": {
			attach("n1", 200, ""), attach("n2", 409, "attached to instance n1"), get(`"attachedTo":"n1"`),
		},
		"a detached volume goes to another instance": {
			attach("n1", 200, ""), detach("n1", `"attachedTo":""`), attach("n2", 200, `"attachedTo":"n2"`),
		},
		"who detaches it where it is not changes nothing": {
			attach("n1", 200, ""), detach("n2", `"attachedTo":"n1"`),
		},
		"an attached volume is not deleted": {
			attach("n1", 200, ""), {verb: "DELETE", path: volumeURL, wantStatus: 409, wantBody: "attached to instance n1"}, detach("n1", ""),
			{verb: "DELETE", path: volumeURL, wantStatus: 204}, {verb: "GET", path: volumeURL, wantStatus: 404},
		},
		"a volume outlives its instance": {
			attach("n1", 200, ""), {verb: "DELETE", path: "/v1/clusters/alpha/instances/n1", wantStatus: 204}, get(`"attachedTo":""`),
			attach("n2", 200, ""),
		},
		"there is nothing to attach to an instance that does not exist": {attach("n3", 422, "no instance n3")},
		"a volume that does not exist is not attached": {
			{verb: "PUT", path: "/v1/clusters/alpha/volumes/v2/attachment", body: `{"attachedTo":"n1"}`, wantStatus: 404},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := New(Options{Disks: t.TempDir()})
			s.AddCluster("alpha", token)
			for _, step := range withVolume(steps...) {
				step.run(t, g, s)
			}
		})
	}
}

func TestTheLogSaysWhereAVolumeGoes(t *testing.T) {
	g := NewWithT(t)
	s, log := newServer()
	for _, step := range withVolume(step{
		verb: "PUT", path: attachmentURL, body: `{"attachedTo":"n2"}`, method: "ControllerPublishVolume", wantStatus: 200,
	}) {
		step.run(t, g, s)
	}
	last := log.calls(g)[3]
	g.Expect([]string{last.Method, last.Object, last.Target, last.Error}).To(Equal([]string{AttachVolume, "v1", "n2", ""}))
}

func TestADiskIsInOnePlace(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	s := New(Options{Disks: root})
	s.AddCluster("alpha", token)
	for _, step := range withVolume(step{verb: "PUT", path: attachmentURL, body: `{"attachedTo":"n1"}`, wantStatus: 200}) {
		step.run(t, g, s)
	}
	volume := s.Snapshot("alpha").Volumes[0]
	g.Expect(volume.DevicePath).To(Equal(filepath.Join(root, "alpha", "n1", volume.ID)))
	g.Expect(os.WriteFile(filepath.Join(volume.DevicePath, "file"), []byte("data"), 0o600)).To(Succeed())

	step{verb: "DELETE", path: "/v1/clusters/alpha/instances/n1", wantStatus: 204}.run(t, g, s)
	g.Expect(volume.DevicePath).NotTo(BeADirectory(), "the instance is gone")
	step{verb: "PUT", path: attachmentURL, body: `{"attachedTo":"n2"}`, wantStatus: 200}.run(t, g, s)
	g.Expect(os.ReadFile(filepath.Join(s.Snapshot("alpha").Volumes[0].DevicePath, "file"))).To(Equal([]byte("data")))

	g.Expect(s.LoseVolume("alpha", "v1")).To(Succeed())
	g.Expect(filepath.Glob(filepath.Join(root, "alpha", "*", volume.ID))).To(BeEmpty())
	g.Expect(s.LoseVolume("alpha", "v1")).To(MatchError(ContainSubstring("no volume")))
}
