// Writes into the Helm chart what comes from elsewhere: the schema of its values, from the configuration's own, and copies of alerts and dashboard: `npm run task -- chart`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHART_VALUES } from './chart-values.ts';
import { ConfigFile, CreditPlanSchema, QuotaPlanSchema } from './config/schema.ts';
import { Type } from './domain/typebox.ts';

const CONFIG = new URL('../config/', import.meta.url);
/** Helm reads only files of the chart. */
const COPIED = ['alerts.yaml', 'grafana-dashboard.json'] as const;
/** The chart sets these, by variables. */
const SET_BY_CHART: ReadonlySet<string> = new Set(['listen', 'ops', 'store']);

type Json = Record<string, unknown>;

/** The files of the chart that are written here, by their names in it. */
export function currentFiles(): Readonly<Record<string, string>> {
  const copies = COPIED.map((name) => [`files/${name}`, readFileSync(new URL(name, CONFIG), 'utf8')] as const);
  return { 'values.schema.json': `${JSON.stringify(valuesSchema(), null, 2)}\n`, ...Object.fromEntries(copies) };
}

function valuesSchema(): Json {
  const ofChart = JSON.parse(JSON.stringify(Type.Object(CHART_VALUES, { additionalProperties: false }))) as Json;
  const { properties, required, ...rest } = ofChart as { properties: Json; required: string[] };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Values of the chart lingate',
    ...rest,
    required: [...required, 'config'],
    properties: { ...properties, config: configSchema() },
  };
}

function configSchema(): Json {
  const { properties, ...rest } = plain(JSON.parse(JSON.stringify(ConfigFile)) as Json) as Json & { properties: Json };
  const members = Object.entries(properties).filter(([name]) => !SET_BY_CHART.has(name));
  return { ...rest, properties: { ...Object.fromEntries(members), plans: plansSchema(properties['plans'] as Json) } };
}

/** Each plan by the schema of its billing, as the gateway checks them. */
function plansSchema(plans: Json): Json {
  const of = (schema: unknown): Json => plain(JSON.parse(JSON.stringify(schema)) as Json);
  const { patternProperties: _any, ...rest } = plans;
  const isQuota = { properties: { billing: { const: 'quota' } }, required: ['billing'] };
  // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; nobody waits for a schema
  return { ...rest, additionalProperties: { type: 'object', if: isQuota, then: of(QuotaPlanSchema), else: of(CreditPlanSchema) } };
}

/** A secret of the configuration would be readable in the ConfigMap: only where to read it may be written there. */
const SECRET = {
  description: 'Where the secret is: { env: NAME }, with NAME in secretEnv, or { file: PATH }, mounted with extraVolumes.',
  type: 'object',
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
  properties: { env: { type: 'string', minLength: 1 }, file: { type: 'string', minLength: 1 } },
};

/** Standard JSON Schema: members with a default may be left out, notes for messages become descriptions, and patterns are in Go's syntax. */
function plain(node: Json): Json {
  const { is, matches, ...rest } = node as Json & { is?: string; matches?: { source: string; flags: string } };
  if (is === 'a secret' || node['secret'] === true) return SECRET;
  const own: Json = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, plainMember(name, value)]));
  if (is !== undefined) own['description'] = is;
  if (matches !== undefined && isOfGo(matches)) own['pattern'] = matches.source.replaceAll(String.raw`\0`, String.raw`\x00`);
  const properties = own['properties'] as Record<string, Json> | undefined;
  const required = (own['required'] as string[] | undefined)?.filter((name) => properties?.[name]?.['default'] === undefined) ?? [];
  if (required.length === 0) delete own['required'];
  else own['required'] = required;
  return own;
}

function plainMember(name: string, value: unknown): unknown {
  if (name === 'default' || name === 'enum' || name === 'required') return value;
  if (Array.isArray(value)) return value.map((one: unknown) => (isNode(one) ? plain(one) : one));
  if (!isNode(value)) return value;
  const isByName = name === 'properties' || name === 'patternProperties';
  return isByName ? Object.fromEntries(Object.entries(value).map(([member, node]) => [member, plain(node as Json)])) : plain(value);
}

function isNode(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Helm's patterns know no lookaround. */
function isOfGo({ source, flags }: { readonly source: string; readonly flags: string }): boolean {
  return flags.replace('u', '') === '' && !/\(\?[!=<]/.test(source);
}

// Not when a test imports it; `import.meta.main` is false when the task runner has imported it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(currentFiles())) writeFileSync(new URL(`helm/lingate/${name}`, CONFIG), text);
}
