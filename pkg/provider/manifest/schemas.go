package manifest

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

type (
	// property is the schema of a field of a CustomResourceDefinition.
	property   = apiextensionsv1.JSONSchemaProps
	properties = map[string]property
)

func text() property { return property{Type: "string"} }

func moment() property { return property{Type: "string", Format: "date-time"} }

// fields of an object, and those that it has to have.
func fields(of properties, required ...string) property {
	return property{Type: "object", Properties: of, Required: required}
}

// open keeps fields that the schema does not name.
func open(object property) property {
	object.XPreserveUnknownFields = new(true)
	return object
}

func failure() property { return fields(properties{"message": text(), "time": moment()}) }

func deletionPolicy() property {
	made := text()
	made.Enum = []apiextensionsv1.JSON{{Raw: []byte(`"Delete"`)}, {Raw: []byte(`"Retain"`)}}
	return made
}

// source is one of two, and stays what it is where the API server can see to that.
func source(minor int, one, other string) property {
	made := fields(properties{one: text(), other: text()})
	made.OneOf = []property{{Required: []string{one}}, {Required: []string{other}}}
	if minor >= immutableMinor {
		made.XValidations = apiextensionsv1.ValidationRules{{Rule: "self == oldSelf", Message: "the source cannot be changed"}}
	}
	return made
}
