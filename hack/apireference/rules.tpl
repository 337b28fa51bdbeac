{{- /* What the API server refuses. The rules of an enumeration stand at its type. */ -}}
{{- define "rules" -}}
{{- $rules := list -}}
{{- $kind := .Type.Kind | toJson | trimAll "\"" -}}
{{- range .Validation }}{{ if not (or (hasPrefix "Optional:" .) (and (hasPrefix "Enum:" .) (ne $kind "BASIC")) (has . $rules)) }}{{ $rules = append $rules . }}{{ end }}{{ end -}}
{{- range $i, $rule := $rules }}{{ if $i }}, {{ end }}{{ template "rule" $rule }}{{ end -}}
{{- $own := index .Markers "kubebuilder:validation:XValidation" -}}
{{- if ne (toString $own) (toString (index .Type.Markers "kubebuilder:validation:XValidation")) -}}
{{- range $i, $rule := $own }}{{ if or $i $rules }}, {{ end }}refused: {{ template "text" .Message }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "rule" -}}
{{- $value := splitList ": " . | rest | join ": " -}}
{{- $name := splitList ": " . | first | trimPrefix "items:" -}}
{{- if hasPrefix "items:" . }}each {{ end -}}
{{- if eq $name "Required" }}**required**
{{- else if eq $name "MaxLength" }}at most {{ $value }} characters
{{- else if eq $name "MinLength" }}at least {{ $value }} character{{ if ne $value "1" }}s{{ end }}
{{- else if eq $name "MaxItems" }}at most {{ $value }} items
{{- else if eq $name "MinItems" }}at least {{ $value }} item{{ if ne $value "1" }}s{{ end }}
{{- else if eq $name "MaxProperties" }}at most {{ $value }} keys
{{- else if eq $name "MinProperties" }}at least {{ $value }} key{{ if ne $value "1" }}s{{ end }}
{{- else if eq $name "Maximum" }}at most {{ float64 $value | int64 }}
{{- else if eq $name "Minimum" }}at least {{ float64 $value | int64 }}
{{- else if eq $name "Pattern" }}matches {{ $value | replace "|" "\\|" }}
{{- else }}{{ $name }} {{ template "text" $value }}{{ end -}}
{{- end -}}

{{- /* A comment as one line of Markdown, and a cell of a table. */ -}}
{{- define "text" -}}
{{ . | trim | replace "\n\n" "<br>" | replace "\n" " " | replace "<br>" "\x00" | replace "<" "&lt;" | replace "\x00" "<br>" | replace "|" "\\|" }}
{{- end -}}
