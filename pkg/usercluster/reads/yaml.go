package reads

import "go.yaml.in/yaml/v3"

// YAMLProblem says why a document must not be decoded; empty: it may. A decoder copies what an alias stands for to each
// place; the tree that is looked at here has an alias as a pointer.
func YAMLProblem(node *yaml.Node, depth int) string {
	switch {
	case node.Kind == yaml.AliasNode:
		return "uses YAML aliases: write out what they stand for"
	case depth == 0:
		return "is nested too deeply: put less into it"
	}
	for _, child := range node.Content {
		if problem := YAMLProblem(child, depth-1); problem != "" {
			return problem
		}
	}
	return ""
}
