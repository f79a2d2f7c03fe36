// Engines and rules are swapped by SIGHUP again and again under load, over every front: no request fails, each calls one engine
// once, each is charged once; and the last rules apply to everything after them, in the console as well.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { limitsOf } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import { slow, startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { ConsoleVisitor } from '../../support/console-visitor.ts';
import { DEEPL, FACADES, FRONTS } from '../../support/fronts.ts';
import type { Front } from '../../support/fronts.ts';
import { makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { request } from '../../support/raw-http.ts';
import { logged, openSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';

const SWAPS = 16;
const CALLERS = 6;
const PLAN = { ...QUOTA_PLAN, requests_per_second: 100_000 };
const ULID_LENGTH = 26;
const HELLO = 'Hello';
const TOKEN = 'o'.repeat(32);

let site: Site;
/** Two addresses of the engine `small`, and the engine `large`. */
let engines: readonly [ScriptedEngine, ScriptedEngine, ScriptedEngine];
beforeEach(async () => {
  site = await openSite();
  engines = await Promise.all([startScriptedEngine(), startScriptedEngine(), startScriptedEngine()]);
  for (const [i, engine] of engines.entries()) engine.always(slow(5 * i));
});
afterEach(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await site.close();
});

interface Swapped {
  readonly small: readonly (0 | 1)[];
  readonly routing?: readonly object[];
}

/** All of them offer every pair to every plan. */
const CONFIGURATIONS: readonly Swapped[] = [
  { small: [0], routing: [{ plans: ['free'], engines: ['small'] }, { engines: ['large', 'small'] }] },
  { small: [1], routing: [{ pairs: ['*-DE'], engines: ['large', 'small'] }, { engines: ['small', 'large'] }] },
  { small: [0, 1] },
  { small: [1], routing: [{ plans: ['pro'], pairs: ['EN-*'], engines: ['small'] }, { engines: ['large'] }] },
  { small: [1, 0], routing: [{ engines: ['large'] }] },
];
const LAST = CONFIGURATIONS.at(-1)!;

const configure = ({ small, routing }: Swapped): Promise<void> =>
  site.configure({
    plugins: FACADES,
    admin: { token: TOKEN },
    plans: { free: PLAN, pro: PLAN },
    engines: {
      small: { urls: small.map((i) => engines[i].url), timeout_ms: 20_000 },
      large: { urls: [engines[2].url], timeout_ms: 20_000 },
    },
    ...(routing === undefined ? {} : { routing }),
  });

async function swap(gateway: GatewayProcess, next: Swapped): Promise<void> {
  await configure(next);
  const before = logged(gateway, 'configuration reloaded').length;
  gateway.process.kill('SIGHUP');
  await expect.poll(() => logged(gateway, 'configuration reloaded').length, { interval: 5 }).toBeGreaterThan(before);
}

async function teamOf(plan: string): Promise<TestTeam> {
  const team = await makeTeam(site.store, PLAN);
  answered(await site.store.teams.updateTeam(team.teamId, { plan: { name: plan, limits: limitsOf(PLAN) } }));
  return team;
}

/** Calls by the request that caused them. */
function callsByRequest(): Map<string, number> {
  const calls = new Map<string, number>();
  for (const { headers } of engines.flatMap((engine) => engine.requests)) {
    const id = String(headers['x-request-id']).slice(0, ULID_LENGTH);
    calls.set(id, (calls.get(id) ?? 0) + 1);
  }
  return calls;
}

test.each(['1', '2'])('with %s worker(s)', { timeout: 120_000 }, async (workers) => {
  await configure(CONFIGURATIONS[0]!);
  const gateway = await site.serve('--workers', workers);
  const teams = [await teamOf('free'), await teamOf('pro'), await teamOf('test')];
  const charged = new Map(teams.map(({ teamId }) => [teamId, 0]));
  const ids: string[] = [];
  const over = new AbortController();
  const ask = async (front: Front, team: TestTeam, target: string): Promise<void> => {
    const asked = front.translation(team.key, [HELLO], target);
    // An option that both engines have.
    const body = front === DEEPL ? `${asked.body}&formality=prefer_more` : asked.body;
    const told = await request({ port: gateway.port, ...asked, body });
    expect([front.name, target, told.status, told.body]).toEqual([front.name, target, 200, expect.stringContaining(HELLO)]);
    ids.push(String(told.headers['x-request-id']));
    charged.set(team.teamId, charged.get(team.teamId)! + HELLO.length);
  };
  const caller = async (number: number): Promise<void> => {
    for (let i = number; !over.signal.aborted; i++)
      await ask(FRONTS[i % FRONTS.length]!, teams[i % teams.length]!, i % 2 === 0 ? 'de' : 'fr');
  };
  const callers = Array.from({ length: CALLERS }, (_none, number) => caller(number));
  try {
    for (let i = 1; i <= SWAPS; i++) await swap(gateway, CONFIGURATIONS[i % CONFIGURATIONS.length]!);
    await swap(gateway, LAST);
  } finally {
    over.abort();
  }
  await Promise.all(callers);
  expect(ids.length).toBeGreaterThan(SWAPS);
  for (const engine of engines) expect(engine.requests.length).toBeGreaterThan(0);
  const calls = callsByRequest();
  expect(ids.filter((id) => calls.get(id) !== 1)).toEqual([]);
  for (const [teamId, characters] of charged) {
    await expect.poll(() => site.store.teams.standing(teamId)).toMatchObject({ usedCharacters: characters, openReservations: 0 });
  }
  const [first, second, large] = engines;
  const overAll = (): Promise<unknown> => Promise.all(teams.flatMap((team) => FRONTS.map((front) => ask(front, team, 'de'))));
  const atSmall = async (): Promise<number> => {
    const before = first.requests.length + second.requests.length;
    await overAll();
    return first.requests.length + second.requests.length - before;
  };
  // Each worker reloads on its own.
  await expect.poll(atSmall).toBe(0);
  const before = large.requests.length;
  expect([await atSmall(), large.requests.length - before]).toEqual([0, teams.length * FRONTS.length]);
  const visitor = new ConsoleVisitor(Number(new URL(gateway.opsUrl).port));
  await visitor.signIn(TOKEN);
  const [, table = ''] = (await visitor.get('/console')).body.split('Engines, in their order</th>');
  const cells = [...table.slice(0, table.indexOf('</table>')).matchAll(/<t[dh][^>]*>([^<]+)</g)].map(([, cell]) => cell);
  expect(cells).toEqual(['all', 'all', 'large']);
  expect(await gateway.end('SIGTERM')).toBe(0);
});
