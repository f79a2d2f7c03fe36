// npm run task -- bench:operators [--operators N] [--seconds N] [--per-second N] [--store sqlite|redis] [--same-key] [--gateways FOLDER]:
// how long operators wait who change one team at once, by two gateways, while its callers translate, and what that costs; and
// whether anything is lost or anyone starves.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { toMicro } from '../src/domain/money.ts';
import { answered } from '../src/domain/store-unavailable.ts';
import type { Store } from '../src/ports/store.ts';
import { openStore } from '../src/stores/open.ts';
import { countBy, openLoop, quantile } from '../test/evidence/load/open-loop.ts';
import { CREDIT_PLAN, makeTeam } from '../test/support/gateway.ts';
import { startGatewayProcess } from '../test/support/gateway-process.ts';
import type { GatewayProcess } from '../test/support/gateway-process.ts';
import { startRedis } from '../test/support/redis.ts';
import { describeMachine, machineLine } from './machine/description.ts';
import { usageOf } from './machine/process-tree.ts';
import { spread } from './run/median.ts';
import { textTable } from './run/text-table.ts';

const { values: flags } = parseArgs({
  options: {
    operators: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '20' },
    'per-second': { type: 'string', default: '1000' },
    store: { type: 'string' },
    'same-key': { type: 'boolean', default: false },
    /** Those of another checkout. */
    gateways: { type: 'string' },
  },
});
const OPERATORS = Number(flags.operators);
const SECONDS = Number(flags.seconds);
/** Of both gateways together. */
const PER_SECOND = Number(flags['per-second']);
const AIM_MS = 100;
const WARM_SECONDS = 4;
const TOKEN = randomBytes(24).toString('hex');
if (flags.store !== undefined && flags.store !== 'sqlite' && flags.store !== 'redis')
  throw new RangeError(`--store ${flags.store}: must be sqlite or redis`);
const CREDIT_MINOR = 1_000_000_000;
/** Of one of the callers' requests: ten characters. */
const PRICE_MICRO = 10 * CREDIT_PLAN.credit_minor_per_million;
const AUDIT_PAGE = 200;
const MS_PER_SECOND = 1000;
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What one operator has done: how long each change took, in ms, and what has come of them. */
interface Done {
  readonly times: number[];
  readonly keys: string[];
  credits: number;
}

const folder = mkdtempSync(join(tmpdir(), 'lingate-bench-operators-'));
const engine = new Worker(new URL('../test/evidence/isolation/noisy-neighbour.ts', import.meta.url));
// Before anything is waited for: a message without a listener is lost.
const listening = once(engine, 'message');
const redis = await startRedis();
try {
  const [{ enginePort }] = (await listening) as [{ readonly enginePort: number }];
  console.log(`${machineLine(await describeMachine())}, ${OPERATORS} operators, ${PER_SECOND} requests a second, ${SECONDS} s\n`);
  const urls = { sqlite: `sqlite:${folder}/lingate.db`, redis: redis.url };
  for (const [name, url] of Object.entries(urls)) {
    if (flags.store === undefined || flags.store === name) console.log(`${await measured(name, url, enginePort)}\n`);
  }
} finally {
  await engine.terminate();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measured(name: string, url: string, enginePort: number): Promise<string> {
  const store = await openStore(url, { log: SILENT, clock: { nowMs: () => Date.now() }, commandTimeoutMs: 10_000 });
  const plan = { ...CREDIT_PLAN, requests_per_second: 100_000 };
  const { teamId, keyId, key } = await makeTeam(store, plan, CREDIT_MINOR);
  const config = join(folder, `${name}.yaml`);
  const urls = [`http://127.0.0.1:${enginePort}`];
  const settings = { listen: '127.0.0.1:0', ops: '127.0.0.1:0', store: url, admin: { token: TOKEN }, engine: { urls } };
  writeFileSync(config, JSON.stringify(settings));
  const args = ['serve', '--config', config];
  const main = flags.gateways === undefined ? {} : { main: join(flags.gateways, 'src/lingate.js') };
  const gateways = [await startGatewayProcess({ args, ...main }), await startGatewayProcess({ args, ...main })];
  try {
    const both = async (seconds: number): Promise<[Awaited<ReturnType<typeof openLoop>>, readonly Done[]]> => {
      const untilMs = performance.now() + seconds * MS_PER_SECOND;
      const one = (i: number): Promise<Done> => operator(gateways[i % gateways.length]!, { teamId, keyId }, `operator ${i}`, untilMs);
      return Promise.all([callers(gateways, key, seconds), Promise.all(Array.from({ length: OPERATORS }, (_, i) => one(i)))]);
    };
    const before = await settledBalance(store, teamId);
    // Until code and caches are warm.
    const [warmSent, warm] = await both(WARM_SECONDS);
    const used = (): readonly number[] => [
      gateways.reduce((sum, { process: { pid } }) => sum + usageOf(pid!).cpuUs, 0),
      name === 'redis' ? usageOf(redis.process.pid!).cpuUs : 0,
    ];
    const usedBefore = used();
    const [sent, done] = await both(SECONDS);
    const cpuUs = used().map((us, i) => us - usedBefore[i]!);
    await assertNothingLost(store, teamId, before, [...warmSent, ...sent], [...warm, ...done]);
    return table(name, sent, done, cpuUs);
  } finally {
    for (const gateway of gateways) await gateway.end('SIGTERM');
    await store.close();
  }
}

async function callers(gateways: readonly GatewayProcess[], key: string, seconds: number): Promise<Awaited<ReturnType<typeof openLoop>>> {
  const perSecond = PER_SECOND / gateways.length;
  return (await Promise.all(gateways.map(({ port }) => openLoop({ port, key, perSecond, seconds })))).flat();
}

/** One change after the other: of the team, of keys of the operator's own, and if asked for of a key that all of them change. */
async function operator(
  { opsUrl }: GatewayProcess,
  shared: { readonly teamId: string; readonly keyId: string },
  name: string,
  untilMs: number,
): Promise<Done> {
  const { teamId } = shared;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const done: Done = { times: [], keys: [], credits: 0 };
  const change = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const startMs = performance.now();
    const answer = await call(agent, `${opsUrl}/admin/v1${path}`, method, body);
    done.times.push(performance.now() - startMs);
    return answer;
  };
  for (let turn = 0; performance.now() < untilMs; turn++) {
    await change('PATCH', `/teams/${teamId}`, { add_credit_minor: 1 });
    done.credits++;
    await change('PATCH', `/teams/${teamId}`, { name: `${name}, ${turn}` });
    if (flags['same-key']) await change('PATCH', `/keys/${shared.keyId}`, { label: `${name}, ${turn}` });
    const keyId = String((await change('POST', `/teams/${teamId}/keys`, { mode: 'live', label: name }))['key_id']);
    done.keys.push(keyId);
    await change('PATCH', `/keys/${keyId}`, { label: `${name}, ${turn}`, requests_per_second: 5 });
    await change('POST', `/keys/${keyId}/revoke`);
  }
  agent.destroy();
  return done;
}

function call(agent: Agent, url: string, method: string, body: object | undefined): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('error', reject);
      response.on('end', () => {
        const isDone = response.statusCode === 200 || response.statusCode === 201;
        if (isDone) resolve(JSON.parse(text) as Record<string, unknown>);
        else reject(new Error(`${method} ${url} is answered ${response.statusCode}: ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Every change is in the audit and in effect, and callers have paid for what they got. */
async function assertNothingLost(
  store: Store,
  teamId: string,
  before: number,
  sent: Awaited<ReturnType<typeof openLoop>>,
  done: readonly Done[],
): Promise<void> {
  const served = sent.filter(({ status }) => status === 200).length;
  // Of a broken one it is not known whether it was delivered, and so charged.
  if (sent.some(({ status }) => status === undefined)) throw new Error(`callers were answered ${JSON.stringify(countBy(sent))}`);
  const credits = done.reduce((sum, one) => sum + one.credits, 0);
  const changes = done.reduce((sum, { times }) => sum + times.length, 0);
  const [is, was] = [await settledBalance(store, teamId), before + toMicro(credits) - served * PRICE_MICRO];
  if (is !== was) throw new Error(`the balance is ${is} instead of ${was}`);
  const keys = new Map(answered(await store.teams.listKeys(teamId))!.map((key) => [key.keyId, key]));
  for (const keyId of done.flatMap((one) => one.keys)) {
    const { status, limits } = keys.get(keyId) ?? {};
    if (status !== 'revoked' || limits?.requestsPerSecond !== 5) throw new Error(`key ${keyId} is ${status}`);
  }
  const entries = await auditEntries(store, teamId);
  if (entries !== changes) throw new Error(`there are ${entries} entries in the audit for ${changes} changes`);
}

/** Charges follow their answers. */
async function settledBalance(store: Store, teamId: string): Promise<number> {
  for (;;) {
    const { openReservations, balanceMicro } = answered(await store.teams.standing(teamId))!;
    if (openReservations === 0) return balanceMicro;
  }
}

async function auditEntries(store: Store, teamId: string): Promise<number> {
  const ids: string[] = [];
  for (let found = AUDIT_PAGE; found === AUDIT_PAGE;) {
    const page = answered(await store.audit.page({ teamId, after: ids.at(-1), sinceMs: undefined, limit: AUDIT_PAGE }));
    ids.push(...page.map(({ id }) => id));
    found = page.length;
  }
  return ids.length;
}

/** `cpuUs`: of the gateways and of Redis. */
function table(name: string, sent: Awaited<ReturnType<typeof openLoop>>, done: readonly Done[], cpuUs: readonly number[]): string {
  const times = done.flatMap((one) => one.times).toSorted((a, b) => a - b);
  const p99 = times[Math.floor(times.length * 0.99)]!;
  const { median, least, most } = spread(done.map((one) => one.times.length));
  if (p99 > AIM_MS) process.exitCode = 1;
  return textTable(
    [`${name}, ${times.length} changes`, 'figure', 'aim'],
    [
      ['p50 of a change, ms', times[Math.floor(times.length * 0.5)]!.toFixed(1), ''],
      ['p99 of a change, ms', p99.toFixed(1), `${AIM_MS}${p99 > AIM_MS ? ' OVER' : ''}`],
      ['longest, ms', times.at(-1)!.toFixed(1), ''],
      ['changes by operator: least, median, most', `${least} ${median} ${most}`, ''],
      [
        'callers',
        Object.entries(countBy(sent))
          .map(([what, count]) => `${count} ${what}`)
          .join(', '),
        '',
      ],
      ['p50 and p99 of callers, ms', `${quantile(sent, 0.5).toFixed(1)} ${quantile(sent, 0.99).toFixed(1)}`, ''],
      ['CPU of gateways and Redis for a change, with the callers, µs', cpuUs.map((us) => (us / times.length).toFixed(0)).join(' '), ''],
      ['lost', '0', ''],
    ],
  );
}
