{{/* The configuration file, and what follows from it. */}}

{{/* Values that contradict each other, or without which nothing can be served: each is named. */}}
{{- define "lingate.check" -}}
{{- $config := .Values.config -}}
{{- if and (not $config.engine) (not $config.engines) -}}
{{- fail "config.engine: say where the engine is, for example config.engine.urls: [\"http://engine:7001\"], or list several in config.engines" -}}
{{- end -}}
{{- if and $config.engine $config.engines -}}
{{- fail "config.engines: leave out config.engine, or list that engine here" -}}
{{- end -}}
{{- if and .Values.store.existingSecret .Values.store.trialRedis.enabled -}}
{{- fail "store.trialRedis.enabled: leave it false where store.existingSecret names the store" -}}
{{- end -}}
{{- if not (or .Values.store.existingSecret .Values.store.trialRedis.enabled) -}}
{{- fail "store.existingSecret: name a Secret with the store's URL, or set store.trialRedis.enabled for a trial" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "ingress.hosts: name the host that callers use" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs: name the Gateway" -}}
{{- end -}}
{{- with .Values.autoscaling -}}
{{- if .enabled -}}
{{- if gt (int .minReplicas) (int .maxReplicas) -}}
{{- fail "autoscaling.maxReplicas: must be at least autoscaling.minReplicas" -}}
{{- end -}}
{{- if not (or .cpuUtilization .requestsInFlight) -}}
{{- fail "autoscaling.cpuUtilization: set this or autoscaling.requestsInFlight" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- include "lingate.checkVariables" . -}}
{{- end }}

{{/* A variable that `config` names must be set: a pod would not start, or start without its admin API. */}}
{{- define "lingate.checkVariables" -}}
{{- if not .Values.extraEnvFrom -}}
{{- $set := keys .Values.secretEnv -}}
{{- range .Values.extraEnv }}{{ $set = append $set .name }}{{ end -}}
{{- if .Values.admin.existingSecret }}{{ $set = append $set "LINGATE_ADMIN_TOKEN" }}{{ end -}}
{{- range regexFindAll "\\{\"env\":\"[A-Z_][A-Z0-9_]*\"\\}" (toJson .Values.config) -1 -}}
{{- $name := get (fromJson .) "env" -}}
{{- if not (has $name $set) -}}
{{- fail (printf "secretEnv.%s: config names this variable; say in which Secret its value is, or set it in extraEnv" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* What lingate.yaml contains. A token of the chart's Secret is the one of `admin`. */}}
{{- define "lingate.configuration" -}}
{{- $config := deepCopy .Values.config -}}
{{- if .Values.admin.existingSecret -}}
{{- $admin := default (dict) $config.admin -}}
{{- if not (hasKey $admin "token") -}}
{{- $_ := set $admin "token" (dict "env" "LINGATE_ADMIN_TOKEN") -}}
{{- end -}}
{{- $_ := set $config "admin" $admin -}}
{{- end -}}
{{- toYaml $config -}}
{{- end }}

{{/* Longer than everything that a pod does before it ends by itself. */}}
{{- define "lingate.graceSeconds" -}}
{{- $limits := default (dict) .Values.config.limits -}}
{{- if .Values.terminationGracePeriodSeconds -}}
{{- int .Values.terminationGracePeriodSeconds -}}
{{- else -}}
{{- add 12 (int .Values.preStopSeconds) (int (dig "drain_delay_seconds" 0 $limits)) (int (dig "drain_seconds" 30 $limits)) -}}
{{- end -}}
{{- end }}

{{/* The ports of all URLs in the configuration, but for those of `service`, which callers and readers use. A JSON list. */}}
{{- define "lingate.outwardPorts" -}}
{{- $ports := list -}}
{{- range regexFindAll "\"https?://[^\"]+\"" (toJson (omit .Values.config "service")) -1 -}}
{{- $url := urlParse (fromJson (printf "{\"url\":%s}" .)).url -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- if not $port }}{{ $port = ternary "443" "80" (eq $url.scheme "https") }}{{ end -}}
{{- $ports = append $ports (int $port) -}}
{{- end -}}
{{- if .Values.store.existingSecret }}{{ $ports = append $ports (int .Values.networkPolicy.storePort) }}{{ end -}}
{{- uniq $ports | toJson -}}
{{- end }}
