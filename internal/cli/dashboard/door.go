package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
)

// enterPath takes the token.
const enterPath = "/enter"

// door lets one browser in: the one that brings the token first.
type door struct {
	// hosts are the values of the header Host that name this server: any other comes from a page that has a name of its own lead
	// here (DNS rebinding).
	hosts          []string
	token, session string
	cookie         string
	used           atomic.Bool
	// refuse writes a page that says why.
	refuse func(w http.ResponseWriter, code int, title, text string)
}

func newDoor(address net.Addr, refuse func(http.ResponseWriter, int, string, string)) (*door, error) {
	_, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return nil, err
	}
	return &door{
		hosts: []string{address.String(), net.JoinHostPort("localhost", port)},
		token: rand.Text(), session: rand.Text(), cookie: "dashboard-" + port, refuse: refuse,
	}, nil
}

// url that lets a browser in, once.
func (d *door) url() string { return "http://" + d.hosts[0] + enterPath + "?token=" + d.token }

// guard has every request pass the door.
func (d *door) guard(inside http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		switch {
		case !slices.Contains(d.hosts, r.Host):
			d.refuse(w, http.StatusForbidden, "Wrong host",
				"The request names another host than this dashboard. Use the address that the command printed.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			d.refuse(w, http.StatusMethodNotAllowed, "Read-only", "The dashboard only shows. Use kubectl to change something.")
		case r.URL.Path == enterPath:
			d.enter(w, r)
		case r.URL.Path == stylePath || d.knows(r):
			inside.ServeHTTP(w, r)
		default:
			d.refuse(w, http.StatusUnauthorized, "No session", "This browser has no session of the dashboard. Open the address that the "+
				"command printed; if it was opened before, start the command again.")
		}
	})
}

// enter exchanges the token for a session. A look ahead with HEAD uses nothing up.
func (d *door) enter(w http.ResponseWriter, r *http.Request) {
	switch {
	case !same(r.URL.Query().Get("token"), d.token):
		d.refuse(w, http.StatusForbidden, "Wrong token",
			"This is not the token of the dashboard. Open the address that the command printed.")
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusNoContent)
	case !d.used.CompareAndSwap(false, true):
		d.refuse(w, http.StatusForbidden, "Used already", "The address was opened before, and it works once. If it was not you who "+
			"opened it, someone else sees what you may see: stop the command, and start it again.")
	default:
		http.SetCookie(w, &http.Cookie{
			Name: d.cookie, Value: d.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		http.Redirect(w, r, "/", http.StatusSeeOther)
	}
}

func (d *door) knows(r *http.Request) bool {
	cookie, err := r.Cookie(d.cookie)
	return err == nil && same(cookie.Value, d.session)
}

// same takes the same time for every wrong value.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// protect an answer: pages run nothing but the script of this package, no other page frames or reads them, and nothing is kept.
func protect(header http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
			"base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cache-Control":                "no-store",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Embedder-Policy": "require-corp",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		header.Set(name, value)
	}
}
