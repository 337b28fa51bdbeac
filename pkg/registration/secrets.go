package registration

import (
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Secret is what may be known of a Secret here: never a value.
type Secret struct {
	// Keys that it has.
	Keys []string
	// Problem is what the catalogue says of it as a cloud configuration, by the names of its keys.
	Problem string
}

// Look is what was looked at in the management cluster for one control plane.
type Look struct {
	// Secrets of the namespace by name; one that is not in it was not looked at.
	Secrets map[string]observation.Observed[Secret]
	// Clusters of the namespace that exist already.
	Clusters observation.Observed[[]ucv1.Cluster]
}

// keyed is a key of a Secret, and who writes it.
type keyed struct {
	name, key, writer string
}

func (k keyed) String() string { return "Secret " + k.name + ", key " + k.key }

// Secrets that a proposal depends on, by name.
func (p ControlPlane) Secrets() []string {
	names := secretsOf(p.Name())
	for _, one := range p.kubeconfigs() {
		names = append(names, one.name)
	}
	if from := p.cloudConfig(); from.kind == secretKind {
		names = append(names, from.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const secretKind = "Secret"

// ownKubeconfig and ownCloudConfig are what the documentation calls the Secrets of a Cluster.
func ownKubeconfig(cluster string) keyed {
	named := ucv1.Cluster{}
	named.Name = cluster
	secret := named.KubeconfigSecret()
	return keyed{name: secret.Name, key: secret.Key}
}

func ownCloudConfig(cluster string) string { return cluster + "-cloud-config" }

func secretsOf(cluster string) []string {
	return []string{ownKubeconfig(cluster).name, ownCloudConfig(cluster)}
}

// kubeconfigs that a platform writes for administrators.
func (p ControlPlane) kubeconfigs() []keyed {
	tenant := func(key string) keyed { return keyed{p.Name() + "-admin-kubeconfig", key, "Kamaji"} }
	switch {
	case p.platform == KKP:
		return []keyed{{"admin-kubeconfig", "kubeconfig", "KKP"}, {"internal-admin-kubeconfig", "kubeconfig", "KKP"}}
	case p.controlledBy("TenantControlPlane"):
		return []keyed{tenant("admin.svc"), tenant("admin.conf")}
	}
	return nil
}

// kubeconfigFields name the Secret with the kubeconfig, the one that a person made for the controller first.
func (l Look) kubeconfigFields(cluster string, others []keyed) []Field {
	const path = "spec.kubeconfigSecretRef"
	own := ownKubeconfig(cluster)
	var unseen []string
	for _, one := range slices.Concat([]keyed{own}, others) {
		seen := l.Secrets[one.name]
		if seen.IsUnknown() {
			unseen = append(unseen, "Secret "+one.name+" could not be looked at: "+seen.Why())
		}
		if !slices.Contains(seen.Value().Keys, one.key) {
			continue
		}
		field := Field{Path: path + ".name", Value: one.name, From: one.String() + ", exists."}
		field.Check = "It authenticates as User ccm-migration-controller, as the README's installation says in step 4."
		if one != own {
			field.From = one.String() + ", exists; " + one.writer + " writes it."
			field.Check = "It is an administrator's. Better give the controller a credential of its own, in " + own.String() + "."
		}
		return []Field{field, {Path: path + ".key", Value: one.key, From: "the same Secret."}}
	}
	slices.Sort(unseen)
	missing := Field{Path: path + ".name", From: "there is no " + own.String() + ".", Check: "make " + own.String() +
		", as the README's installation says in step 4. Then the field can stay out."}
	if unseen = slices.Compact(unseen); len(unseen) > 0 {
		missing.From = strings.Join(unseen, "; ") + "."
		missing.Check = "the Secret with the kubeconfig of the user cluster, and its key, unless that is " + own.String() + "."
	}
	return []Field{missing}
}

// cloudConfig is where KCM has the file of --cloud-config from.
func (p ControlPlane) cloudConfig() source {
	file, given := p.arguments.Flag("cloud-config")
	if !given || file == "" {
		return source{}
	}
	return sourceOf(&p.kcm.Spec.Template.Spec, p.container, file)
}

// cloudConfigField names the Secret with the cloud configuration: the one that a person made for the controller, else what KCM
// itself reads. That may lack a key; then the Cluster says so as long as the feature is off.
func (p ControlPlane) cloudConfigField(look Look, providers Providers, provider string) Field {
	field := ownCloudConfigField(look, p.Name())
	if field.Value != nil {
		return field
	}
	own := ownCloudConfig(p.Name())
	fill := "a Secret with " + providers.keysOf(provider) + ", for example " + own + "."
	from := p.cloudConfig()
	if from.kind != secretKind {
		return Field{Path: field.Path, From: p.noSecret(from) + unlooked(look, own), Check: fill}
	}
	field.Value = from.name
	field.From = "the volume with the file of --cloud-config in " + p.where() + ", key " + from.key + "."
	switch seen := look.Secrets[from.name]; {
	case seen.IsUnknown():
		field.Check = "The Secret could not be looked at: " + seen.Why() + ". It needs " + providers.keysOf(provider) + "."
	case seen.IsAbsent():
		field.Check = "The Secret does not exist. Create it, or name another one: " + fill
	case seen.Value().Problem != "":
		field.Check = "The Secret cannot be used as it is: " + strings.TrimSuffix(seen.Value().Problem, ".") + ". Make " + fill
	}
	return field
}

// ownCloudConfigField has a value when a person made a Secret for the controller that can be used.
func ownCloudConfigField(look Look, cluster string) Field {
	field, own := Field{Path: "spec.cloud.configSecretRef.name"}, ownCloudConfig(cluster)
	seen, known := look.Secrets[own].Get()
	if !known {
		return field
	}
	field.Value, field.From = own, "Secret "+own+" exists, with the name that the documentation gives it."
	if seen.Problem != "" {
		field.Check = "It cannot be used as it is: " + strings.TrimSuffix(seen.Problem, ".") + "."
	}
	return field
}

// noSecret says why KCM names no Secret.
func (p ControlPlane) noSecret(from source) string {
	switch {
	case !p.arguments.Understood():
		return "the arguments of KCM could not be read."
	case from.kind == "" && p.arguments.Flags["cloud-config"] == "":
		return p.where() + " has no --cloud-config."
	case from.kind == "":
		return "no volume of " + p.where() + " has the file of --cloud-config."
	}
	return "the file of --cloud-config in " + p.where() + " is no Secret's, but from " +
		strings.TrimSpace(from.kind+" "+from.name) + "."
}

// unlooked adds that a Secret could not be looked at.
func unlooked(look Look, name string) string {
	if seen := look.Secrets[name]; seen.IsUnknown() {
		return " Secret " + name + " could not be looked at: " + seen.Why() + "."
	}
	return ""
}
