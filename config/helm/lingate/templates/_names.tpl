{{/* Names and labels of the chart's objects. */}}
{{- define "lingate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "lingate.fullname" -}}
{{- $name := include "lingate.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "lingate.selector" -}}
app.kubernetes.io/name: {{ include "lingate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "lingate.redis.selector" -}}
app.kubernetes.io/name: {{ include "lingate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: trial-redis
{{- end }}

{{- define "lingate.common" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "lingate.labels" -}}
{{ include "lingate.selector" . }}
{{ include "lingate.common" . }}
{{- end }}

{{- define "lingate.redis.labels" -}}
{{ include "lingate.redis.selector" . }}
{{ include "lingate.common" . }}
{{- end }}

{{- define "lingate.redis.name" -}}
{{ include "lingate.fullname" . }}-redis
{{- end }}

{{/* An image by its tag, and by its digest if there is one. Called with a dict of `image` and `tag`. */}}
{{- define "lingate.image" -}}
{{ .image.repository }}:{{ default .tag .image.tag }}{{ with .image.digest }}@{{ . }}{{ end }}
{{- end }}
