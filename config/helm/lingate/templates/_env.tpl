{{/* The container's variables, without those that extraEnv has too: a list may have a name once. */}}
{{- define "lingate.env" -}}
{{- $env := list (dict "name" "LINGATE_CONFIG" "value" "/etc/lingate/lingate.yaml") -}}
{{- $env = append $env (dict "name" "LINGATE_LISTEN" "value" (printf "%s:8080" .Values.listenHost)) -}}
{{- $env = append $env (dict "name" "LINGATE_OPS" "value" (printf "%s:9090" .Values.listenHost)) -}}
{{- if .Values.store.trialRedis.enabled -}}
{{- $env = append $env (dict "name" "LINGATE_STORE" "value" (printf "redis://%s:6379" (include "lingate.redis.name" .))) -}}
{{- else -}}
{{- $env = append $env (include "lingate.secretVariable" (dict "name" "LINGATE_STORE" "secret" .Values.store.existingSecret "key" .Values.store.key) | fromYaml) -}}
{{- end -}}
{{- if .Values.admin.existingSecret -}}
{{- $env = append $env (include "lingate.secretVariable" (dict "name" "LINGATE_ADMIN_TOKEN" "secret" .Values.admin.existingSecret "key" .Values.admin.key) | fromYaml) -}}
{{- end -}}
{{- range $name, $from := .Values.secretEnv -}}
{{- $env = append $env (include "lingate.secretVariable" (dict "name" $name "secret" $from.secret "key" $from.key) | fromYaml) -}}
{{- end -}}
{{- $extra := list -}}
{{- range .Values.extraEnv }}{{ $extra = append $extra .name }}{{ end -}}
{{- $kept := list -}}
{{- range $env }}{{ if not (has .name $extra) }}{{ $kept = append $kept . }}{{ end }}{{ end -}}
{{- concat $kept .Values.extraEnv | toYaml -}}
{{- end }}

{{- define "lingate.secretVariable" -}}
name: {{ .name }}
valueFrom:
  secretKeyRef: { name: {{ .secret | quote }}, key: {{ .key | quote }} }
{{- end }}
