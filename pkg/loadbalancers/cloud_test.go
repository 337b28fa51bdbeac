package loadbalancers_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/loadbalancers"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/openstack"
)

const listPath = "/octavia/v2.0/lbaas/loadbalancers"

func start(t *testing.T, secure bool) *openstack.Cloud {
	t.Helper()
	cloud := openstack.Start(secure)
	t.Cleanup(cloud.Close)
	return cloud
}

func dialing() loadbalancers.Cloud {
	return loadbalancers.Cloud{Dial: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}
}

// config logs in with a password, unless more says otherwise.
func config(cloud *openstack.Cloud, more ...string) map[string][]byte {
	lines := append([]string{
		"[Global]", "auth-url=" + cloud.URL, "region=one", "username=" + openstack.User, "password=" + openstack.Password,
		"tenant-name=alpha", "domain-name=Default",
	}, more...)
	return map[string][]byte{"cloud.conf": []byte(strings.Join(lines, "\n"))}
}

func active(id, name string) openstack.LoadBalancer {
	return openstack.LoadBalancer{ID: id, Name: name, ProvisioningStatus: "ACTIVE", ProjectID: openstack.Project}
}

func asked(name, wanted string) observation.OldLoadBalancer {
	return observation.OldLoadBalancer{Name: name, Wanted: wanted}
}

func TestWhatTheCloudSaysOfLoadBalancers(t *testing.T) {
	g, cloud := NewWithT(t), start(t, false)
	going, elsewhere, changing := active("2", "aone"), active("3", "aone"), active("4", "atwo")
	going.ProvisioningStatus, elsewhere.ProjectID, changing.ProvisioningStatus = "PENDING_DELETE", "project-2", "PENDING_UPDATE"
	cloud.Set(active("1", "aone"), going, elsewhere, changing, active("5", "athree"), active("6", "athree"), active("7", "kube_three"),
		active("8", "kube_four"))
	seen := dialing().Old(t.Context(), config(cloud), []observation.OldLoadBalancer{
		asked("aone", "kube_one"), asked("atwo", "kube_two"), asked("athree", "kube_three"), asked("afour", "kube_four"),
		asked("afive", "kube_five"),
	})
	g.Expect(seen.Value()).To(Equal([]observation.OldLoadBalancer{
		{ID: "1", Name: "aone", Wanted: "kube_one", Status: "ACTIVE"},
		{ID: "4", Name: "atwo", Wanted: "kube_two", Status: "PENDING_UPDATE"},
		{ID: "5", Name: "athree", Wanted: "kube_three", Status: "ACTIVE", Twins: []string{"6"}, Holders: []string{"7"}},
		{ID: "8", Name: "kube_four", Wanted: "kube_four", Status: "ACTIVE"},
	}), seen.Why())
}

func TestAllPagesAreRead(t *testing.T) {
	g, cloud := NewWithT(t), start(t, false)
	var many []openstack.LoadBalancer
	for i := range 450 {
		many = append(many, active(fmt.Sprintf("id-%d", i), fmt.Sprintf("a%d", i)))
	}
	cloud.Set(many...)
	seen := dialing().Old(t.Context(), config(cloud), []observation.OldLoadBalancer{asked("a0", "x"), asked("a449", "y")})
	g.Expect(seen.Value()).To(HaveLen(2), seen.Why())
	g.Expect(cloud.Calls()).To(HaveLen(2+3), "the login, the versions of Octavia, and three pages")
}

func TestRenaming(t *testing.T) {
	for name, tc := range map[string]struct {
		balancers []openstack.LoadBalancer
		rename    outcome.Rename
		names     map[string]string
		says      string
	}{
		"a free name is given": {
			balancers: []openstack.LoadBalancer{active("1", "aone")}, rename: outcome.Rename{ID: "1", From: "aone", To: "kube_one"},
			names: map[string]string{"1": "kube_one"},
		},
		"one that has it already is left alone, whatever the cloud is doing with it": {
			balancers: []openstack.LoadBalancer{{ID: "1", Name: "kube_one", ProvisioningStatus: "PENDING_UPDATE"}},
			rename:    outcome.Rename{ID: "1", From: "aone", To: "kube_one"}, names: map[string]string{"1": "kube_one"},
		},
		"a name that another one has is not given": {
			balancers: []openstack.LoadBalancer{active("1", "aone"), active("2", "kube_one")},
			rename:    outcome.Rename{ID: "1", From: "aone", To: "kube_one"}, names: map[string]string{"1": "aone", "2": "kube_one"},
			says: "load balancer 2 got the name kube_one",
		},
		"one of another project that these credentials see counts, too": {
			balancers: []openstack.LoadBalancer{
				active("1", "aone"),
				{ID: "2", Name: "kube_one", ProvisioningStatus: "ACTIVE", ProjectID: "project-2"},
			},
			rename: outcome.Rename{ID: "1", From: "aone", To: "kube_one"}, names: map[string]string{"1": "aone", "2": "kube_one"},
			says: "load balancer 2 got the name kube_one",
		},
		"one that someone else renamed stays": {
			balancers: []openstack.LoadBalancer{active("1", "mine")}, rename: outcome.Rename{ID: "1", From: "aone", To: "kube_one"},
			names: map[string]string{"1": "mine"}, says: "load balancer 1 was renamed by someone else",
		},
		"one that the cloud is changing is tried again": {
			balancers: []openstack.LoadBalancer{{ID: "1", Name: "aone", ProvisioningStatus: "PENDING_UPDATE"}},
			rename:    outcome.Rename{ID: "1", From: "aone", To: "kube_one"}, names: map[string]string{"1": "aone"},
			says: "the cloud is changing load balancer 1",
		},
		"one that is gone is an error": {
			rename: outcome.Rename{ID: "1", From: "aone", To: "kube_one"}, names: map[string]string{},
			says: "read load balancer 1: the answer is 404 Not Found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, cloud := NewWithT(t), start(t, false)
			cloud.Set(tc.balancers...)
			err := dialing().Rename(t.Context(), config(cloud), []outcome.Rename{tc.rename})
			if tc.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
			}
			g.Expect(cloud.Names()).To(Equal(tc.names))
		})
	}
}

// What a cloud answers may repeat what it was sent, and what is said of it stands in the status.
func TestErrorsHaveNoWordOfTheCloud(t *testing.T) {
	login := "POST /v3/auth/tokens"
	for name, tc := range map[string]struct {
		set    func(*openstack.Cloud)
		config func(*openstack.Cloud) map[string][]byte
		says   string
	}{
		"a wrong password": {
			config: func(c *openstack.Cloud) map[string][]byte {
				made := config(c)
				made["cloud.conf"] = []byte(strings.ReplaceAll(string(made["cloud.conf"]), openstack.Password, "wrong-secret"))
				return made
			}, says: "log in to Keystone: the answer is 401 Unauthorized",
		},
		"a cloud that repeats what it gets": {
			set: func(c *openstack.Cloud) { c.Answer(login, http.StatusBadRequest) }, says: "log in to Keystone: the answer is 400 Bad Request",
		},
		"an Octavia that fails": {
			set:  func(c *openstack.Cloud) { c.Answer("GET "+listPath, http.StatusInternalServerError) },
			says: "list the load balancers of the project: the answer is 500 Internal Server Error",
		},
		"an Octavia that sends elsewhere": {
			set: func(c *openstack.Cloud) { c.Answer("GET "+listPath, http.StatusTemporaryRedirect) }, says: "it redirects to another address",
		},
		"another region": {
			config: func(c *openstack.Cloud) map[string][]byte {
				made := config(c)
				made["cloud.conf"] = []byte(strings.ReplaceAll(string(made["cloud.conf"]), "region=one", "region=two"))
				return made
			}, says: "names no endpoint of load-balancer",
		},
		"no configuration":     {config: func(*openstack.Cloud) map[string][]byte { return nil }, says: "it lacks key cloud.conf"},
		"a cloud that is away": {set: func(c *openstack.Cloud) { c.Close() }, says: "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			g, cloud := NewWithT(t), start(t, false)
			made := config(cloud)
			if tc.config != nil {
				made = tc.config(cloud)
			}
			if tc.set != nil {
				tc.set(cloud)
			}
			seen := dialing().Old(t.Context(), made, []observation.OldLoadBalancer{asked("a", "b")})
			g.Expect(seen.IsUnknown()).To(BeTrue())
			g.Expect(seen.Why()).To(ContainSubstring(tc.says))
			for _, secret := range []string{openstack.Password, "wrong-secret", "token-1", "you sent", "requires authentication"} {
				g.Expect(seen.Why()).NotTo(ContainSubstring(secret))
			}
		})
	}
}

func TestLoginsOfTheCCM(t *testing.T) {
	g, cloud := NewWithT(t), start(t, true)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cloud.CA()})
	g.Expect(dialing().Old(t.Context(), config(cloud), nil).Why()).To(ContainSubstring("its certificate is not trusted"))

	trusting := config(cloud, "ca-file=/etc/kubernetes/ca.pem")
	trusting["ca.pem"] = bundle
	g.Expect(dialing().Old(t.Context(), trusting, nil).Why()).To(BeEmpty())

	g.Expect(dialing().Old(t.Context(), config(cloud, "tls-insecure=true"), nil).Why()).To(ContainSubstring("add ca-file"))

	credential := map[string][]byte{"cloud.conf": []byte("[Global]\nauth-url=" + cloud.URL + "\nregion=one\nca-file=ca.pem\n" +
		"application-credential-id=cred-1\napplication-credential-secret=" + openstack.Password), "ca.pem": bundle}
	g.Expect(dialing().Old(t.Context(), credential, nil).Why()).To(BeEmpty())
}

func TestAddressesAreRefusedByWhoDials(t *testing.T) {
	g, cloud := NewWithT(t), start(t, false)
	refusing := loadbalancers.Cloud{Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("the address is the own loopback")
	}}
	g.Expect(refusing.Old(t.Context(), config(cloud), nil).IsUnknown()).To(BeTrue())
	g.Expect(cloud.Calls()).To(BeEmpty())
}
