package machinecontroller

import (
	"path"
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const cloudProviderFlag = "--cloud-provider"

// kubeletOf is how a machine that boots with the data starts its kubelet: what its one unit says. Every OperatingSystemProfile
// that comes with the operating-system-manager writes /etc/systemd/system/kubelet.service; without its own flag, and from 1.29 on
// for every provider, the flag is left out of it.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/deploy/osps/default/osp-ubuntu.yaml#L618-L656
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/deploy/osps/default/osp-flatcar.yaml#L746-L783
func kubeletOf(data []byte) observation.BootstrapKubelet {
	files, understood := bootFiles(data)
	if !understood {
		return observation.BootstrapNotTold
	}
	var units []string
	for _, file := range files {
		unit, dropIn := file.ofKubelet()
		switch {
		case unit && file.unread, dropIn && (file.unread || len(settings(file.content, "ExecStart")) > 0):
			return observation.BootstrapNotTold
		case unit:
			units = append(units, file.content)
		}
	}
	if len(units) != 1 {
		return observation.BootstrapNotTold
	}
	return kubeletOfUnit(units[0])
}

func kubeletOfUnit(unit string) observation.BootstrapKubelet {
	commands := settings(unit, "ExecStart")
	if len(commands) != 1 || strings.ContainsAny(commands[0], `"'`) {
		return observation.BootstrapNotTold
	}
	words := strings.Fields(commands[0])
	if len(words) == 0 || path.Base(words[0]) != "kubelet" {
		return observation.BootstrapNotTold
	}
	provider := cloudProviderOf(words)
	switch {
	case strings.Contains(provider, "$"), hidesArguments(words):
		return observation.BootstrapNotTold
	case provider == "external":
		return observation.BootstrapExternal
	}
	return observation.BootstrapInTree
}

// cloudProviderOf is the last one that is given; empty: none is.
func cloudProviderOf(words []string) (provider string) {
	for at, word := range words {
		if value, found := strings.CutPrefix(word, cloudProviderFlag+"="); found {
			provider = value
		}
		if word == cloudProviderFlag && at+1 < len(words) {
			provider = words[at+1]
		}
	}
	return provider
}

// hidesArguments says that a variable stands where it can be more than the value of a flag: only the kubelet's environment knows
// what it holds.
func hidesArguments(words []string) bool {
	valued := []string{"--node-ip", "--hostname-override"}
	for at, word := range words {
		if strings.HasPrefix(word, "$") && (at == 0 || !slices.Contains(valued, words[at-1])) {
			return true
		}
	}
	return false
}

// settings are the values of a setting of a systemd unit, with the lines that go on joined; an empty one takes back those before.
func settings(unit, name string) []string {
	var values []string
	for line := range strings.Lines(strings.ReplaceAll(unit, "\\\n", " ")) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		switch value = strings.TrimSpace(value); {
		case !found || strings.TrimSpace(key) != name:
		case value == "":
			values = nil
		default:
			values = append(values, value)
		}
	}
	return values
}
