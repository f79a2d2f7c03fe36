// The schema of the chart's values refuses every wrong value by its name, and allows every setting of the configuration.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CHART, chartTools } from '../../kubernetes/chart-tools.ts';
import type { ChartTools } from '../../kubernetes/chart-tools.ts';
import { manifestsIn } from '../../kubernetes/manifests.ts';
import { manualPage } from '../../support/manual.ts';
import type { Ended } from '../../support/start-program.ts';

interface Node {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: boolean | Node;
  readonly items?: Node;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Node>>;
}

/** What is wrong, and where: as helm says it, a JSON pointer. */
interface Mistakes {
  readonly values: unknown;
  readonly at: readonly string[];
}

type Mistake = (node: Node) => { readonly value: unknown } | undefined;

const SCHEMA = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Node;
const UNKNOWN = 'unknwon';

/** A value of another type than the member's. */
const otherType: Mistake = ({ type, enum: names, anyOf }) => {
  if (names !== undefined) return { value: 'no such one' };
  if (anyOf !== undefined) return { value: ['neither'] };
  if (type === undefined) return undefined;
  return { value: type === 'string' ? 12_345 : 'another type' };
};
const tooLarge: Mistake = ({ maximum }) => (maximum === undefined ? undefined : { value: maximum + 1 });
const tooSmall: Mistake = ({ minimum }) => (minimum === undefined ? undefined : { value: minimum - 1 });
/** No pattern allows this. */
const otherText: Mistake = ({ type, pattern }) => (type === 'string' && pattern !== undefined ? { value: ' \u0000:@ ' } : undefined);

const MISTAKES = {
  'another type': () => mistakes(otherType),
  'more than the limit': () => mistakes(tooLarge),
  'less than the limit': () => mistakes(tooSmall),
  'another text': () => mistakes(otherText),
  'a member that does not exist': unknownMembers,
} as const;

function mistakes(mistake: Mistake): Mistakes {
  const at: string[] = [];
  return { values: spoil(SCHEMA, '', mistake, at), at };
}

/** Objects have their members spoilt; a map, one entry; a list, its first item. `undefined` where nothing can be wrong. */
function spoil(written: Node, path: string, mistake: Mistake, at: string[]): unknown {
  const node = resolved(written);
  const members = membersOf(node);
  if (members.length > 0) {
    const spoilt = members.map(([name, member]) => [name, spoil(member, `${path}/${name}`, mistake, at)] as const);
    const wrong = spoilt.filter(([, value]) => value !== undefined);
    return wrong.length === 0 ? undefined : Object.fromEntries(wrong);
  }
  if (node.items !== undefined) {
    const item = spoil(node.items, `${path}/0`, mistake, at);
    return item === undefined ? undefined : [item];
  }
  const wrong = mistake(node);
  if (wrong === undefined) return undefined;
  at.push(path);
  return wrong.value;
}

function resolved(node: Node): Node {
  return node.$ref === undefined ? node : SCHEMA.$defs![node.$ref.replace('#/$defs/', '')]!;
}

/** Without those that are `false`, which nothing can be in. */
function membersOf(node: Node): (readonly [string, Node])[] {
  const properties = Object.entries(node.properties ?? {}).filter(([, member]) => typeof member === 'object');
  if (properties.length > 0) return properties;
  const entry = Object.values(node.patternProperties ?? {})[0] ?? node.additionalProperties;
  return typeof entry === 'object' && Object.keys(entry).length > 0 ? [['anEntry', entry]] : [];
}

function unknownMembers(): Mistakes {
  const at: string[] = [];
  return { values: withUnknown(SCHEMA, '', at), at };
}

function withUnknown(written: Node, path: string, at: string[]): unknown {
  const node = resolved(written);
  const members = membersOf(node);
  if (members.length === 0) return node.items === undefined ? undefined : listed(withUnknown(node.items, `${path}/0`, at));
  const inner = members
    .map(([name, member]) => [name, withUnknown(member, `${path}/${name}`, at)] as const)
    .filter(([, value]) => value !== undefined);
  const isClosed = node.additionalProperties === false;
  if (isClosed) at.push(path);
  return { ...Object.fromEntries(inner), ...(isClosed ? { [UNKNOWN]: 1 } : {}) };
}

function listed(item: unknown): unknown {
  return item === undefined ? undefined : [item];
}

let folder: string;
let tools: ChartTools;

const ENGINE = { config: { engine: { urls: ['http://engine:7001'] } } };
const STORE = { store: { existingSecret: 'store' } };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-values-'));
  tools = await chartTools();
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function template(...values: readonly unknown[]): Promise<Ended> {
  const files = values.flatMap((value, index) => {
    const file = join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify(value));
    return ['--values', file];
  });
  return tools.helm(['template', 'lingate', CHART, ...files]);
}

test('helm lint finds nothing, with the defaults and with values of a customer', async () => {
  for (const flags of [[], ['--set', 'store.existingSecret=store', '--set', 'config.engine.urls={http://engine:7001}']]) {
    const { status, stdout } = await tools.helm(['lint', '--strict', CHART, ...flags]);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^1 chart\(s\) linted, 0 chart\(s\) failed$/m)]);
    expect(stdout).not.toMatch(/\[(?:WARNING|ERROR)\]/);
  }
});

test.each(Object.entries(MISTAKES))('%s is refused with the name of each value', async (_kind, make) => {
  const { values, at } = make();
  expect(at.length).toBeGreaterThan(15);
  const { status, stderr } = await template(values);
  expect(status).toBe(1);
  const isNamed = (path: string): boolean => stderr.includes(`at '${path}':`);
  expect(at.filter((path) => !isNamed(path))).toEqual([]);
});

test.each([
  ['config.engine', STORE],
  ['config.engines', { ...STORE, config: { ...ENGINE.config, engines: { one: { urls: ['http://engine:7001'] } } } }],
  ['store.existingSecret', ENGINE],
  ['store.trialRedis.enabled', { ...ENGINE, store: { existingSecret: 'store', trialRedis: { enabled: true } } }],
  ['ingress.hosts', { ...ENGINE, ...STORE, ingress: { enabled: true } }],
  ['httpRoute.parentRefs', { ...ENGINE, ...STORE, httpRoute: { enabled: true } }],
  ['autoscaling.maxReplicas', { ...ENGINE, ...STORE, autoscaling: { enabled: true, minReplicas: 11 } }],
  ['autoscaling.cpuUtilization', { ...ENGINE, ...STORE, autoscaling: { enabled: true, cpuUtilization: 0 } }],
  ['secretEnv.OPS_TOKEN', { ...STORE, config: { ...ENGINE.config, admin: { token: { env: 'OPS_TOKEN' } } } }],
])('what contradicts or lacks something is refused by %s', async (name, values) => {
  const { status, stderr } = await template(values);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${name}: `)]);
});

test('a store in the configuration is refused: pods have that of the Secret', async () => {
  const { status, stderr } = await template(STORE, { config: { ...ENGINE.config, store: 'redis://elsewhere:6379' } });
  expect([status, stderr]).toEqual([1, expect.stringContaining(`at '/config/store':`)]);
});

test('a secret itself is not allowed in the configuration, which everyone may read', async () => {
  const config = { ...ENGINE.config, admin: { token: 'a'.repeat(32) }, events: { url: 'https://a', secret: 'whsec_x' } };
  const { status, stderr } = await template(STORE, { config });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/at '\/config\/admin\/token': got string, want object/)]);
  expect(stderr).toContain(`at '/config/events/secret': got string, want object`);
});

test('the default configuration is allowed as it stands, and reaches the pods unchanged', async () => {
  const written = parse(readFileSync(join(CHART, '../../lingate.yaml'), 'utf8')) as Record<string, unknown>;
  const { listen: _listen, ops: _ops, store: _store, ...config } = written;
  const { status, stdout, stderr } = await template(STORE, { config });
  expect([status, stderr]).toEqual([0, '']);
  const { data } = manifestsIn(stdout).find(({ kind }) => kind === 'ConfigMap')!;
  expect(parse(data!['lingate.yaml']!)).toEqual(config);
  expect(UNKNOWN in config).toBe(false);
});

test('every value in the tables of the manual is a value of the chart', async () => {
  const { stdout } = await tools.helm(['show', 'values', CHART]);
  const values = parse(stdout) as Record<string, unknown>;
  const named = [...manualPage('helm').matchAll(/`((?:[a-z][A-Za-z]+)(?:\.[a-z][A-Za-z]+)+)`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(10);
  const isThere = (path: string): boolean =>
    path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], values) !== undefined;
  const files = new Set(['lingate.yaml', 'languages.yaml']);
  expect(named.filter((path) => !files.has(path) && !isThere(path))).toEqual([]);
});
