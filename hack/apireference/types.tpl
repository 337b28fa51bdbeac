{{- define "type" -}}
{{ if .GVK }}##{{ else }}###{{ end }} {{ .Name }}

{{ template "text" .Doc }}
{{ if .References }}
In {{ template "parents" . }}.
{{ end -}}
{{- $values := list }}{{ range .Validation }}{{ if hasPrefix "Enum: [" . }}
{{- $values = . | trimPrefix "Enum: [" | trimSuffix "]" | splitList " " }}{{ end }}{{ end -}}
{{- $explained := eq (len .EnumValues) (len $values) }}{{ range .EnumValues }}{{ if not .Doc }}{{ $explained = false }}{{ end }}{{ end -}}
{{ if and $values $explained }}
| Value | Means |
|---|---|
{{ range .EnumValues }}| `{{ .Name }}` | {{ template "text" (regexReplaceAll "^\\S+ (means (that )?)?" .Doc "") }} |
{{ end }}{{ else if $values }}
One of {{ range $i, $value := $values }}{{ if $i }}, {{ end }}`{{ $value }}`{{ end }}.
{{ end -}}
{{ with index .Markers "kubebuilder:validation:XValidation" }}
Refused:

{{ range . }}* {{ template "text" .Message }}
{{ end }}{{ end -}}
{{ if .Members }}
| Field | Type | Description | Rules |
|---|---|---|---|
{{ range .Members }}| `{{ .Name }}` | {{ template "name" .Type }} | {{ template "description" . }} | {{ template "rules" . }} |
{{ end }}{{ end }}
{{ end -}}

{{- /* Where a type is used. Facts is a part of ClusterStatus that the API does not name. */ -}}
{{- define "parents" -}}
{{- $comma := false -}}
{{- range .SortedReferences }}{{ if ne .Name "Facts" }}{{ if $comma }}, {{ end }}[{{ .Name }}](#{{ lower .Name }}){{ $comma = true }}{{ end }}{{ end -}}
{{- end -}}

{{- define "description" -}}
{{ if eq .Name "metadata" }}The name, namespace, labels, and so on.{{ else }}{{ template "text" .Doc }}{{ end }}
{{- end -}}

{{- /* The name of a type. Those of Kubernetes link to their Go types: that page has no version in its address. */ -}}
{{- define "name" -}}
{{ if eq .Kind 5 }}list of {{ template "name" .UnderlyingType }}
{{- else if eq .Kind 4 }}{{ template "name" .UnderlyingType }}
{{- else if eq .Kind 3 }}map of {{ template "name" .KeyType }} to {{ template "name" .ValueType }}
{{- else if eq .Kind 1 }}{{ .Name | replace "int64" "integer" | replace "int32" "integer" | replace "bool" "boolean" }}
{{- else if hasPrefix "k8s.io/" .Package }}[{{ .Name }}](https://pkg.go.dev/{{ .Package }}#{{ .Name }})
{{- else }}[{{ .Name }}](#{{ lower .Name }}){{ end }}
{{- end -}}
