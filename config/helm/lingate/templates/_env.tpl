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

{{/* What the gateway's container and the one that checks its configuration have in common. */}}
{{- define "lingate.container" -}}
image: {{ include "lingate.image" (dict "image" .Values.image "tag" .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  {{- include "lingate.env" . | nindent 2 }}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - { name: lingate-config, mountPath: /etc/lingate, readOnly: true }
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
