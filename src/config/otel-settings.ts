// The settings of traces in force: where they are sent, and how many requests are traced. Standard
// `OTEL_*` variables win over the configuration's; most of them the SDK's exporter reads itself.
import type { OtelSettings } from '../ports/telemetry.ts';
import type { Config } from './config.ts';
import { assertFaultless, ConfigError } from './config-error.ts';
import type { Fault } from './config-error.ts';
import type { Environment } from './environment.ts';
import { shown } from './faults.ts';

/** Fields of framing, and those that describe the body. */
const OURS = /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-.*)$/;
const NAME = /^[\w!#$%&'*+.^`|~-]{1,64}$/;
/** The defaults of the specification. */
const QUEUE = { delayMs: 5000, spansMax: 2048, batchMax: 512 };

/**
 * `undefined` if `otel` is absent, or off by a standard variable. `headers` are the configured ones with their secrets. Throws a
 * `ConfigError` that names the member or variable.
 */
export function otelSettings(
  { otel, file, service }: Config,
  env: Environment,
  headers: Readonly<Record<string, string>> = {},
): OtelSettings | undefined {
  if (otel === undefined) return undefined;
  assertFaultless(file, headerFaults(otel.headers));
  const isSet = (...names: readonly string[]): boolean => names.some((name) => (env[name]?.trim() ?? '') !== '');
  const wholeFrom = (name: string, otherwise: number): number => (isSet(name) ? whole(name, env[name]!) : otherwise);
  const spansMax = wholeFrom('OTEL_BSP_MAX_QUEUE_SIZE', QUEUE.spansMax);
  for (const name of ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'])
    if (isSet(name) && env[name]!.trim() !== 'http/protobuf') throw new ConfigError([`${name}: is not http/protobuf`]);
  const settings: OtelSettings = {
    // What is left out here, the exporter reads from the variables.
    url: isSet('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT')
      ? undefined
      : `${otel.endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: isSet('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS') ? undefined : headers,
    ...samplingOf(otel, env),
    serviceName: service.name,
    queue: {
      delayMs: wholeFrom('OTEL_BSP_SCHEDULE_DELAY', QUEUE.delayMs),
      spansMax,
      batchMax: Math.min(spansMax, wholeFrom('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', QUEUE.batchMax)),
    },
    variables: Object.keys(env).filter((name) => name.startsWith('OTEL_') && isSet(name)),
  };
  return isTracingOff(env) ? undefined : settings;
}

/** By a standard variable, whatever the configuration says. */
export function isTracingOff(env: Environment): boolean {
  return env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
}

/** Names that cannot be added to an export. */
function headerFaults(headers: Readonly<Record<string, unknown>>): Fault[] {
  return Object.keys(headers)
    .filter((name) => !NAME.test(name) || OURS.test(name.toLowerCase()))
    .map((name) => ({ path: 'otel.headers', reason: `${shown(name)} is not a header that can be added` }));
}

function whole(name: string, value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value.trim())) throw new ConfigError([`${name}: is not a whole number from 1 to 999999999`]);
  return Number(value);
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

/** What the variables' sampler means here, where a request is sampled before its spans. */
function samplingOf(otel: NonNullable<Config['otel']>, env: Environment): Pick<OtelSettings, 'sample' | 'followCallers'> {
  const sampler = env['OTEL_TRACES_SAMPLER']?.trim().toLowerCase() ?? '';
  if (sampler === '') return { sample: otel.sample, followCallers: otel.follow_callers };
  if (!SAMPLERS.includes(sampler)) throw new ConfigError([`OTEL_TRACES_SAMPLER: is not one of ${SAMPLERS.join(', ')}`]);
  const share = Number(env['OTEL_TRACES_SAMPLER_ARG'] ?? 1);
  if (!(share >= 0 && share <= 1)) throw new ConfigError(['OTEL_TRACES_SAMPLER_ARG: is not a number from 0 to 1']);
  const sample = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : share;
  return { sample, followCallers: sampler.startsWith('parentbased_') };
}
