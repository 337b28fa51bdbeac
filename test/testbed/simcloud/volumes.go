package simcloud

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
)

// registerAttachments has the two calls that move a volume. Both can be
// repeated, and neither takes a volume from another instance.
func registerAttachments(s *Server, mux *http.ServeMux) {
	const path = "/v1/clusters/{cluster}/volumes/{name}/attachment"
	mux.Handle("PUT "+path, s.tenantCall(AttachVolume, func(c *request) reply {
		c.call.Method = AttachVolume
		wanted, volume, refused := c.attachment()
		switch _, there := c.tenant.instances[wanted.AttachedTo]; {
		case refused.reason != "":
			return refused
		case !there:
			return refusal(http.StatusUnprocessableEntity, "there is no instance "+wanted.AttachedTo)
		case volume.AttachedTo != "" && volume.AttachedTo != wanted.AttachedTo:
			return refusal(http.StatusConflict, "the volume is attached to instance "+volume.AttachedTo)
		}
		return c.move(volume, wanted.AttachedTo)
	}))
	mux.Handle("DELETE "+path, s.tenantCall(DetachVolume, func(c *request) reply {
		c.call.Method = DetachVolume
		wanted, volume, refused := c.attachment()
		switch {
		case refused.reason != "":
			return refused
		case volume.AttachedTo != wanted.AttachedTo:
			// It is not attached there, which is what the caller wants.
			return reply{status: http.StatusOK, body: volume}
		}
		return c.move(volume, "")
	}))
}

// attachment reads what is asked for, and notes it in the log.
func (c *request) attachment() (wanted Attachment, volume Volume, refused reply) {
	if err := json.Unmarshal(c.body, &wanted); err != nil {
		return wanted, volume, refusal(http.StatusBadRequest, "the body is no attachment: "+err.Error())
	}
	c.call.Target = wanted.AttachedTo
	volume, found := c.tenant.volumes[c.call.Object]
	if !found {
		return wanted, volume, refusal(http.StatusNotFound, notFound)
	}
	return wanted, volume, reply{}
}

// move attaches a volume to an instance, or to none.
func (c *request) move(volume Volume, instance string) reply {
	path, err := c.server.disks.move(c.call.Cluster, volume, instance)
	if err != nil {
		return refusal(http.StatusInternalServerError, "the disk does not move: "+err.Error())
	}
	volume.AttachedTo, volume.DevicePath = instance, path
	c.tenant.volumes[volume.Name] = volume
	return reply{status: http.StatusOK, body: volume}
}

func makeDisk(c *request, volume Volume) reply {
	if err := c.server.disks.make(c.call.Cluster, volume); err != nil {
		return refusal(http.StatusInternalServerError, "the disk is not made: "+err.Error())
	}
	return reply{}
}

func removeDisk(c *request, volume Volume) reply {
	if volume.AttachedTo != "" {
		return refusal(http.StatusConflict, "the volume is attached to instance "+volume.AttachedTo)
	}
	if err := c.server.disks.remove(c.call.Cluster, volume); err != nil {
		return refusal(http.StatusInternalServerError, "the disk is not removed: "+err.Error())
	}
	return reply{}
}

// detachAll lets the volumes of an instance outlive it, as clouds do.
func detachAll(c *request, instance Instance) reply {
	for _, volume := range sorted(c.tenant.volumes) {
		if volume.AttachedTo != instance.Name {
			continue
		}
		if answer := c.move(volume, ""); answer.reason != "" {
			return answer
		}
	}
	return reply{}
}

// disks are the folders of all volumes: a volume's own is that of its
// instance, or that of none. Without a root there are none.
type disks struct{ root string }

// nowhere is no name of an instance.
const nowhere = "_detached"

func (d disks) path(cluster, instance string, volume Volume) string {
	return filepath.Join(d.root, cluster, orDefault(instance, nowhere), volume.ID)
}

func (d disks) make(cluster string, volume Volume) error {
	if d.root == "" {
		return nil
	}
	return os.MkdirAll(d.path(cluster, "", volume), 0o755)
}

func (d disks) remove(cluster string, volume Volume) error {
	if d.root == "" {
		return nil
	}
	return os.RemoveAll(d.path(cluster, volume.AttachedTo, volume))
}

// move returns where the instance sees the volume; nothing where there is none.
func (d disks) move(cluster string, volume Volume, instance string) (string, error) {
	if d.root == "" {
		return "", nil
	}
	from, to := d.path(cluster, volume.AttachedTo, volume), d.path(cluster, instance, volume)
	if from != to {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.Rename(from, to); err != nil {
			return "", err
		}
	}
	if instance == "" {
		return "", nil
	}
	return to, nil
}
