// The settings of OpenTelemetry in force: those of the configuration, unless a standard `OTEL_*` variable says otherwise.
import { secret } from '../domain/option-schema.ts';
import { Type } from '../domain/typebox.ts';
import type { OtelExport, OtelSettings } from '../ports/telemetry.ts';
import type { Config } from './config.ts';
import { assertFaultless, ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';
import { otelHeaderFaults } from './otel-section.ts';
import type { OtelConfig } from './otel-section.ts';
import { reveal } from './secrets.ts';

type Signal = 'TRACES' | 'METRICS';

const Headers = Type.Record(Type.String(), secret('A header of every export.'));
const HEADERS_AT = 'otel.headers';
/** The defaults of the specification. */
const TIMEOUT_MS = 10_000;
const QUEUE = { delayMs: 5000, spansMax: 2048, batchMax: 512 };
const METRICS_EVERY_MS = 60_000;
const NUMBER_MAX = 2_147_483_647;

/** `undefined` without `otel`, or if `OTEL_SDK_DISABLED` is true. Reads secrets. Throws a `ConfigError` that names the member or variable. */
export function otelSettings(config: Config, env: Environment): OtelSettings | undefined {
  const { otel, file, service } = config;
  if (otel === undefined) return undefined;
  const { value, faults } = reveal(Headers, otel.headers, { env, file, files: config.sources.files }, HEADERS_AT);
  assertFaultless(file, [...otelHeaderFaults(otel.headers, HEADERS_AT), ...faults]);
  const variables = new OtelVariables(env);
  const settings = settingsOf(otel, value as Readonly<Record<string, string>>, service.name, variables);
  if (variables.faults.size > 0) throw new ConfigError([...variables.faults]);
  return env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' ? undefined : { ...settings, variables: [...variables.used] };
}

function settingsOf(
  otel: OtelConfig,
  headers: Readonly<Record<string, string>>,
  name: string,
  variables: OtelVariables,
): Omit<OtelSettings, 'variables'> {
  // Read by the SDK.
  for (const variable of ['OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES']) variables.text(variable);
  const spansMax = variables.whole('OTEL_BSP_MAX_QUEUE_SIZE') ?? QUEUE.spansMax;
  return {
    traces: exportOf('TRACES', otel, headers, variables),
    metrics: exportOf('METRICS', otel, headers, variables),
    ...samplingOf(otel, variables),
    serviceName: name,
    queue: {
      delayMs: variables.whole('OTEL_BSP_SCHEDULE_DELAY') ?? QUEUE.delayMs,
      spansMax,
      batchMax: Math.min(spansMax, variables.whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE') ?? QUEUE.batchMax),
    },
    metricsEveryMs: variables.whole('OTEL_METRIC_EXPORT_INTERVAL') ?? METRICS_EVERY_MS,
  };
}

/** `undefined` if this signal is not exported. */
function exportOf(
  signal: Signal,
  { endpoint }: OtelConfig,
  headers: OtelExport['headers'],
  variables: OtelVariables,
): OtelExport | undefined {
  const exporter = variables.oneOf(`OTEL_${signal}_EXPORTER`, ['otlp', 'none']);
  const names = (what: string): readonly string[] => [`OTEL_EXPORTER_OTLP_${signal}_${what}`, `OTEL_EXPORTER_OTLP_${what}`];
  const [own, base] = names('ENDPOINT').map((variable) => variables.url(variable));
  const first = <T>(what: string, read: (name: string) => T | undefined): T | undefined =>
    names(what).reduce<T | undefined>((found, variable) => found ?? read(variable), undefined);
  const protocol = first('PROTOCOL', (variable) => variables.oneOf(variable, ['http/protobuf', 'http/json']));
  const settings: OtelExport = {
    url: own ?? `${(base ?? endpoint).replace(/\/+$/, '')}/v1/${signal.toLowerCase()}`,
    headers: first('HEADERS', (variable) => variables.pairs(variable)) ?? headers,
    encoding: protocol === 'http/json' ? 'json' : 'protobuf',
    gzip: first('COMPRESSION', (variable) => variables.oneOf(variable, ['none', 'gzip'])) === 'gzip',
    timeoutMs: first('TIMEOUT', (variable) => variables.whole(variable)) ?? TIMEOUT_MS,
    ca: first('CERTIFICATE', (variable) => variables.text(variable)),
    cert: first('CLIENT_CERTIFICATE', (variable) => variables.text(variable)),
    key: first('CLIENT_KEY', (variable) => variables.text(variable)),
  };
  return exporter === 'none' ? undefined : settings;
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

function samplingOf(otel: OtelConfig, variables: OtelVariables): Pick<OtelSettings, 'sample' | 'followCallers'> {
  const sampler = variables.oneOf('OTEL_TRACES_SAMPLER', SAMPLERS);
  if (sampler === undefined) return { sample: otel.sample, followCallers: otel.followCallers };
  const share = variables.share('OTEL_TRACES_SAMPLER_ARG') ?? 1;
  return {
    sample: sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : share,
    followCallers: sampler.startsWith('parentbased_'),
  };
}

/** Reads variables. An empty one counts as not set, as the specification says. */
class OtelVariables {
  /** One that both signals read is told once. */
  readonly faults = new Set<string>();
  readonly used = new Set<string>();
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  text(name: string): string | undefined {
    const value = this.#env[name]?.trim();
    if (value === undefined || value === '') return undefined;
    this.used.add(name);
    return value;
  }

  /** Of the URL only the path is shown elsewhere; it may have credentials. */
  url(name: string): string | undefined {
    return this.#judged(name, /^https?:\/\//i, 'is not an http or https URL, for example http://127.0.0.1:4318', (value) =>
      URL.canParse(value) ? value : undefined,
    );
  }

  whole(name: string): number | undefined {
    return this.#judged(name, /^\d{1,10}$/, `is not a whole number from 1 to ${NUMBER_MAX}`, (value) => {
      const number = Number(value);
      return number >= 1 && number <= NUMBER_MAX ? number : undefined;
    });
  }

  share(name: string): number | undefined {
    return this.#judged(name, /^[\d.]{1,20}$/, 'is not a number from 0 to 1', (value) => (Number(value) <= 1 ? Number(value) : undefined));
  }

  oneOf<T extends string>(name: string, known: readonly T[]): T | undefined {
    const right = `is not one of ${known.join(', ')}`;
    return this.#judged(name, /^/, right, (value) => known.find((one) => one === value.toLowerCase()));
  }

  /** Header names and values, such as `x-token=abc,x-tenant=one`; percent-encoded as in the header `Baggage`. */
  pairs(name: string): Readonly<Record<string, string>> | undefined {
    return this.#judged(name, /^/, 'is not a list of NAME=VALUE with commas between them', (value) => {
      const pairs = value.split(',').filter((part) => part.trim() !== '');
      const entries = pairs.map((part) => pairOf(part));
      const all = entries.filter((entry) => entry !== undefined);
      if (all.length < entries.length) return undefined;
      const headers = Object.fromEntries(all);
      return otelHeaderFaults(headers, name).length === 0 ? headers : undefined;
    });
  }

  /** Never shows the value, which may be a secret. */
  #judged<T>(name: string, form: RegExp, fault: string, read: (value: string) => T | undefined): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = form.test(value) ? read(value) : undefined;
    if (found === undefined) this.faults.add(`${name}: ${fault}`);
    return found;
  }
}

function pairOf(part: string): readonly [string, string] | undefined {
  const at = part.indexOf('=');
  if (at < 1) return undefined;
  try {
    const [name, value] = [part.slice(0, at), part.slice(at + 1)].map((one) => decodeURIComponent(one.trim()));
    return /^[\x20-\x7e]*$/.test(value!) ? [name!.toLowerCase(), value!] : undefined;
  } catch {
    return undefined;
  }
}
