package hetzner

import (
	"maps"
	"testing"
)

// FuzzCloudConfig shows that no Secret makes the parser panic, and that what the CCM gets says the same as what it is made of.
func FuzzCloudConfig(f *testing.F) {
	const all = 0xff
	f.Add(uint8(1), "token", "", "", "", "", "", "", "other", "value")
	f.Add(uint8(all), "a.b~c+d/e==\r\n", "1234", "user", "pass word", "fsn1", "eu-central", "ipv4", "HCLOUD_TOKEN", "token")
	f.Add(uint8(0b1011111), "token", "näme", "user", "pässword", "fsn1", "", "dualstack", "robotUser", "")
	f.Add(uint8(all), "\xff", "\n", "a:b", "\x00", "fsn1-dc14", "eu", "IPv6", "token", "\xff")
	f.Fuzz(func(t *testing.T, there uint8, token, network, user, password, location, zone, family, key, value string) {
		data := map[string][]byte{key: []byte(value)}
		for i, text := range []string{token, network, user, password, location, zone, family} {
			if there>>i&1 == 1 {
				data[settings()[i].key] = []byte(text)
			}
		}
		parsed, problem := parse(data)
		if problem != "" {
			return
		}
		secret, _ := parsed.render("hcloud", ccmVariable)
		again, problem := parse(secret.Data)
		if problem != "" || !maps.Equal(again, parsed) {
			t.Errorf("the CCM gets another configuration (%d and %d keys): %s", len(again), len(parsed), problem)
		}
	})
}
