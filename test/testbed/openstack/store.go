package openstack

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// object is a resource as its API spells it.
type object map[string]any

func (o object) text(key string) string {
	text, _ := o[key].(string)
	return text
}

// kind of resources, such as "listener", at "/octavia/v2.0/lbaas/listeners".
type kind struct {
	path, one, many string
	// made completes what a client asks for, and changed is asked before an update, refused with a status.
	made    func(c *Cloud, made object) int
	changed func(c *Cloud, old, asked object) int
	removed func(c *Cloud, old object) int
}

// serve the resources of a kind under its path.
func (c *Cloud) serve(mux *http.ServeMux, k kind) {
	mux.HandleFunc("GET "+k.path, func(w http.ResponseWriter, r *http.Request) { c.list(w, r, k) })
	mux.HandleFunc("POST "+k.path, func(w http.ResponseWriter, r *http.Request) { c.create(w, r, k) })
	one := k.path + "/{id}"
	mux.HandleFunc("GET "+one, func(w http.ResponseWriter, r *http.Request) {
		c.with(w, r, k, func(found object) (int, any) { return http.StatusOK, map[string]any{k.one: found} })
	})
	mux.HandleFunc("PUT "+one, func(w http.ResponseWriter, r *http.Request) {
		c.with(w, r, k, func(found object) (int, any) {
			asked, err := read(r, k)
			if err != nil {
				return http.StatusBadRequest, nil
			}
			if k.changed != nil {
				if status := k.changed(c, found, asked); status != 0 {
					return status, nil
				}
			}
			maps.Copy(found, asked)
			return http.StatusOK, map[string]any{k.one: found}
		})
	})
	mux.HandleFunc("DELETE "+one, func(w http.ResponseWriter, r *http.Request) {
		c.with(w, r, k, func(found object) (int, any) {
			if k.removed != nil {
				if status := k.removed(c, found); status != 0 {
					return status, nil
				}
			}
			c.remove(k.many, func(o object) bool { return o.text("id") == found.text("id") })
			return http.StatusNoContent, nil
		})
	})
}

// with answers for one resource, or that there is none.
func (c *Cloud) with(w http.ResponseWriter, r *http.Request, k kind, answer func(found object) (int, any)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.find(k.many, r.PathValue("id"))
	if found == nil {
		write(w, http.StatusNotFound, map[string]any{"error": k.one + " not found"})
		return
	}
	status, body := answer(found)
	write(w, status, body)
}

// find returns nil where there is none.
func (c *Cloud) find(many, id string) object {
	for _, o := range c.look(many) {
		if o.text("id") == id {
			return o
		}
	}
	return nil
}

// look at all of a kind; what the cloud was busy with may have ended.
func (c *Cloud) look(many string) []object {
	if many == balancers {
		c.settle()
	}
	return c.objects[many]
}

func (c *Cloud) remove(many string, gone func(object) bool) {
	c.objects[many] = slices.DeleteFunc(c.objects[many], gone)
}

func (c *Cloud) create(w http.ResponseWriter, r *http.Request, k kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made, err := read(r, k)
	if err != nil {
		write(w, http.StatusBadRequest, nil)
		return
	}
	if status := c.add(k, made); status != 0 {
		write(w, status, nil)
		return
	}
	write(w, http.StatusCreated, map[string]any{k.one: made})
}

// add completes a resource and keeps it, or returns why not as a status.
func (c *Cloud) add(k kind, made object) int {
	made["id"], made["project_id"] = c.newID(), Project
	if k.made != nil {
		if status := k.made(c, made); status != 0 {
			return status
		}
	}
	c.objects[k.many] = append(c.objects[k.many], made)
	return 0
}

// newID has the form of a UUID, which clients ask for.
func (c *Cloud) newID() string {
	c.serial++
	return fmt.Sprintf("0b5e55ed-0000-4000-8000-%012d", c.serial)
}

func read(r *http.Request, k kind) (object, error) {
	var body map[string]object
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body[k.one] == nil {
		return nil, fmt.Errorf("the body has no %s", k.one)
	}
	return body[k.one], nil
}

// list filters by the fields that have texts, and has pages.
func (c *Cloud) list(w http.ResponseWriter, r *http.Request, k kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	list, more, begun := []object{}, false, query.Get("marker") == ""
	for _, o := range c.look(k.many) {
		switch {
		case !begun:
			begun = o.text("id") == query.Get("marker")
		case !matches(o, query):
		case err == nil && len(list) == limit:
			more = true
		default:
			list = append(list, o)
		}
	}
	answer := map[string]any{k.many: list}
	if more {
		query.Set("marker", list[len(list)-1].text("id"))
		answer[k.many+"_links"] = []map[string]string{{"rel": "next", "href": c.server.URL + r.URL.Path + "?" + query.Encode()}}
	}
	write(w, http.StatusOK, answer)
}

// matches asks for each field; one that is no text, or that the resource does not have, is written as JSON has it.
func matches(o object, query url.Values) bool {
	for key, values := range query {
		if slices.Contains([]string{"limit", "marker", "fields", "tenant_id"}, key) {
			continue
		}
		value, found := o[key]
		if !found || strings.Trim(fmt.Sprint(value), `"`) != values[0] {
			return false
		}
	}
	return true
}
