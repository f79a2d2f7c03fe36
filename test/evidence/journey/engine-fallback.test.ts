// The table of fallbacks: for every kind of failure, at the first attempt and at the second, with one engine and with several: who
// was called and how often, what the caller saw, what was charged, what log and metrics say. Never a third attempt.
import { fileURLToPath } from 'node:url';
import { ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { limitsOf } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import { act } from '../../support/door/contracts.ts';
import { answer, CANARY, status } from '../../../src/testing.ts';
import type { AttemptFailure } from '../../../src/ports/engine.ts';
import type { Behaviour, RightAnswer, ScriptedEngine, ScriptedRequest } from '../../../src/testing/scripted-engine.ts';
import { FACADES, FRONTS, V1 } from '../../support/fronts.ts';
import type { Front } from '../../support/fronts.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';
import { report } from '../scorecard/report.ts';
import { completion, SUBJECTS } from '../../unit/engines/protocols/subjects.ts';

/** How each is configured. None has a second replica; `next` and `third` come after the others. */
const ENGINES = {
  native: {},
  // The only one with a deadline that can be reached.
  tardy: { timeout_ms: 1000 },
  model: { protocol: 'openai', options: { model: 'm' } },
  libre: { protocol: 'libretranslate', pairs: 'any' },
  quota: { protocol: 'deepl', options: { api_key: 'k' } },
  own: { protocol: 'throwing' },
  // An answer with another's id closes its connection, and would close those of the other requests.
  mixed: { keep_alive: false },
  narrow: { connections_max: 1, queue_max: 0 },
  dead: { urls: ['http://127.0.0.1:1'] },
  next: {},
  third: {},
} as const;
type Name = keyof typeof ENGINES;
const NAMES = Object.keys(ENGINES) as Name[];
/** The configuration's names; nothing else contains them. */
const hidden = (name: Name): string => `hidden-${name}`;

/** The engines that a plan's teams use, in order, by the plan's name. */
const LISTS = Object.fromEntries(
  NAMES.filter((name) => name !== 'next' && name !== 'third').flatMap((name): [string, readonly Name[]][] => [
    [`${name}-alone`, [name]],
    [`${name}-before`, [name, 'next', 'third']],
    [`${name}-behind`, ['next', name, 'third']],
  ]),
);

/** What tests of their own cover, below, in `deepl-engine-glossaries.test.ts` and in `engine-files.test.ts`. */
type Elsewhere = 'busy' | 'cancelled' | 'unasked' | 'no_detection' | 'glossary_refused' | 'file_refused';
/** Which engine fails in each way, and how. */
const KINDS: Readonly<Record<Exclude<AttemptFailure, Elsewhere>, readonly [engine: Name, ...Behaviour[]]>> = {
  // The system refuses the connection: no engine is running.
  connect: ['dead', 'ok'],
  reset: ['native', 'reset', 'close'],
  timeout: ['tardy', 'hang'],
  status: ['native', status(500), status(429)],
  too_large: ['native', 'huge_headers'],
  not_json: ['native', 'not_json'],
  wrong_shape: ['native', 'one_too_few'],
  foreign_id: ['mixed', (_request, response) => void response.setHeader('x-request-id', ulid()).end('{}')],
  cut_off: ['model', answer(completion({ t0: CANARY }, 'length'))],
  unsupported_pair: ['libre', status(400, `{"error":"${CANARY} is not supported"}`)],
  engine_quota: ['quota', status(456)],
  internal: ['own', status(418)],
};
const ROWS = Object.entries(KINDS).flatMap(([failure, [engine, ...behaviours]]) =>
  behaviours.map((behaviour) => [failure, engine, behaviour] as const),
);
const HELLO = 'Hello';
const ULID_LENGTH = 26;

interface Expected {
  readonly plan: string;
  readonly asked: Partial<Record<Name, number>>;
  /** Who answered, or was tried last. */
  readonly engine: Name;
  readonly ok: boolean;
}

describe('over all fronts', () => {
  const started = startedUntil(afterAll);
  let gateway: TestGateway;
  const engines = {} as Record<Name, ScriptedEngine>;

  beforeAll(async () => {
    for (const name of NAMES) engines[name] = await started.engine({ right: rightOf(name) });
    const configured = NAMES.map((name) => [hidden(name), { urls: [engines[name].url], timeout_ms: 20_000, ...ENGINES[name] }]);
    gateway = await started.gateway({
      config: {
        plugins: [...FACADES, { module: fileURLToPath(new URL('../../support/plugins/throwing-engine.ts', import.meta.url)) }],
        plans: Object.fromEntries(Object.keys(LISTS).map((plan) => [plan, QUOTA_PLAN])),
        engines: Object.fromEntries(configured) as object,
        routing: Object.entries(LISTS).map(([plan, list]) => ({ plans: [plan], engines: list.map(hidden) })),
      },
    });
  });
  afterAll(() => {
    const figure = `engine faults, ${ROWS.length} kinds at the first attempt and at both`;
    const measured = `two attempts each over ${FRONTS.length} fronts; engine's words in 0 answers, 0 failures charged`;
    report({ row: 20, figure, measured, counts: { faults: ROWS.length * FRONTS.length } });
  });
  afterEach(() => Object.values(engines).forEach((engine) => engine.forget()));

  async function teamOf(plan: string): Promise<TestTeam> {
    const team = await gateway.team();
    answered(await gateway.store.teams.updateTeam(team.teamId, { plan: { name: plan, limits: limitsOf(QUOTA_PLAN) } }));
    return team;
  }
  const expectCharged = (team: TestTeam, requests: number): Promise<void> =>
    expect
      .poll(() => gateway.store.teams.standing(team.teamId), { interval: 5 })
      .toMatchObject({ usedCharacters: requests * HELLO.length, openReservations: 0 });

  /** How often each engine was called for a request; the others are omitted. */
  function asked(id: string): Partial<Record<Name, number>> {
    const times = NAMES.map((name) => [name, engines[name].requests.filter((one) => idOf(one) === id).length] as const);
    return Object.fromEntries(times.filter(([, count]) => count > 0));
  }

  /** Attempts by engine and outcome. */
  async function attempts(): Promise<ReadonlyMap<string, number>> {
    const { body } = await request({ port: gateway.opsPort, path: '/metrics' });
    const series = body.matchAll(/^lingate_engine_attempts_total\{engine="hidden-(\w+)",replica="[^"]*",outcome="(\w+)"\} (\d+)$/gm);
    return new Map([...series].map(([, engine, outcome, count]) => [`${engine!} ${outcome!}`, Number(count)]));
  }

  /** The counts since `before`. */
  async function attemptsSince(before: ReadonlyMap<string, number>): Promise<Record<string, number>> {
    const counts = [...(await attempts())].map(([name, count]) => [name, count - before.get(name)!] as const);
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }

  async function logLineOf(id: string): Promise<object> {
    const line = (): string | undefined => gateway.logLines.find((one) => one.includes(`"request_id":"${id}"`) && one.includes('"route"'));
    await expect.poll(line, { interval: 5 }).toBeDefined();
    return JSON.parse(line()!) as object;
  }

  /** One request over each front, all at once. The log is written in pieces, so only its lines must be waited for. */
  async function expectOverFronts(team: TestTeam, { plan, ok, engine, asked: times }: Expected): Promise<() => Promise<unknown>> {
    // Words that stand for an engine, or come from one.
    const ofEngines = new RegExp([CANARY, 'hidden-', ...NAMES.map((name) => `:${engines[name].port}\\b`)].join('|'));
    const line = { engine: hidden(engine), engine_attempts: 2, characters: ok ? HELLO.length : 0 };
    const translate = async (front: Front): Promise<string> => {
      const reply = await request({ port: gateway.port, ...front.translation(team.key, [HELLO]) });
      const id = String(reply.headers['x-request-id']);
      const retryAfter = ok ? undefined : '5';
      expect([plan, front.name, reply.status, reply.headers['retry-after'], asked(id)]).toEqual([
        plan,
        front.name,
        ok ? 200 : front.statuses.engine_unavailable,
        retryAfter,
        times,
      ]);
      if (ok) expect(front.texts(reply.body)).toEqual([`[DE] ${HELLO}`]);
      expect(JSON.stringify([reply.headers, reply.body])).not.toMatch(ofEngines);
      return id;
    };
    const ids = await Promise.all(FRONTS.map(translate));
    return async () => {
      for (const id of ids) expect(await logLineOf(id)).toMatchObject(line);
    };
  }

  test.each(ROWS)('%s, by the engine %s', async (failure, engine, behaviour) => {
    const once = engine === 'dead' ? {} : { [engine]: 1 };
    const twice = engine === 'dead' ? {} : { [engine]: 2 };
    const teams = {
      alone: await teamOf(`${engine}-alone`),
      before: await teamOf(`${engine}-before`),
      behind: await teamOf(`${engine}-behind`),
    };
    const before = await attempts();
    const logged: (() => Promise<unknown>)[] = [];
    const expectOf = async (team: keyof typeof teams, plan: string, expected: Omit<Expected, 'plan'>): Promise<void> =>
      void logged.push(await expectOverFronts(teams[team], { plan, ...expected }));
    // With one engine: first so and then well, which an engine that is not running cannot do; so both times.
    if (engine !== 'dead') {
      engines[engine].always(onlyAtFirst(behaviour, rightOf(engine)));
      await expectOf('alone', 'then well', { asked: twice, engine, ok: true });
    }
    engines[engine].always(behaviour);
    // Alone, the first of several, and the second of several.
    await Promise.all([
      expectOf('alone', 'both times', { asked: twice, engine, ok: false }),
      expectOf('before', 'one that answers', { asked: { ...once, next: 1 }, engine: 'next', ok: true }),
    ]);
    engines.next.always(status(503));
    await Promise.all([
      expectOf('before', 'one that fails', { asked: { ...once, next: 1 }, engine: 'next', ok: false }),
      expectOf('behind', 'one that fails', { asked: { ...once, next: 1 }, engine, ok: false }),
    ]);
    const n = FRONTS.length;
    expect(await attemptsSince(before)).toEqual({
      ...(engine === 'dead' ? {} : { [`${engine} usable`]: n }),
      [`${engine} ${failure}`]: (engine === 'dead' ? 5 : 6) * n,
      'next usable': n,
      'next status': 2 * n,
    });
    expect(engines.third.requests).toHaveLength(0);
    await expectCharged(teams.alone, engine === 'dead' ? 0 : n);
    await expectCharged(teams.before, n);
    await expectCharged(teams.behind, 0);
    for (const check of logged) await check();
  });

  test('busy: an engine whose connections are all in use is not called, and counts as an attempt', async () => {
    const plans = { alone: await teamOf('narrow-alone'), before: await teamOf('narrow-before'), behind: await teamOf('narrow-behind') };
    engines.narrow.always('hang');
    const holding = await RawConnection.open({ port: gateway.port });
    holding.send(requestBytes(V1.translation(plans.alone.key, [HELLO])));
    await engines.narrow.until(() => engines.narrow.requests.length === 1);
    const before = await attempts();
    await expectOverFronts(plans.alone, { plan: 'alone', asked: {}, engine: 'narrow', ok: false });
    await expectOverFronts(plans.before, { plan: 'before', asked: { next: 1 }, engine: 'next', ok: true });
    engines.next.always(status(503));
    await expectOverFronts(plans.behind, { plan: 'behind', asked: { next: 1 }, engine: 'narrow', ok: false });
    const n = FRONTS.length;
    expect(await attemptsSince(before)).toEqual({ 'narrow busy': 4 * n, 'next usable': n, 'next status': n });
    holding.destroy();
    await expectCharged(plans.alone, 0);
    await expectCharged(plans.before, n);
    await expectCharged(plans.behind, 0);
  });

  test.each<[during: string, first: Behaviour, asked: readonly Name[]]>([
    ['first', 'hang', ['native']],
    ['second', status(500), ['native', 'next']],
  ])('cancelled: a caller who leaves during the %s attempt causes no other', async (_during, behaviour, names) => {
    const team = await teamOf('native-before');
    engines.native.always(behaviour);
    engines.next.always('hang');
    const last = engines[names.at(-1)!];
    for (const front of FRONTS) {
      const before = last.requests.length;
      const leaving = await RawConnection.open({ port: gateway.port });
      leaving.send(requestBytes(front.translation(team.key, [HELLO])));
      await last.until(() => last.requests.length > before);
      leaving.destroy();
      const call = last.requests.at(-1)!;
      await last.until(() => call.aborted);
      const line = { code: 'client_closed', characters: 0, engine: hidden(names.at(-1)!), engine_attempts: names.length };
      expect([front.name, await logLineOf(idOf(call))]).toMatchObject([front.name, line]);
      expect(asked(idOf(call))).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
    }
    await expectCharged(team, 0);
  });

  // The last test: a replica that sent unrequested bytes gets a new connection for each call of the next minute.
  test('unasked: two answers to one request', async () => {
    const [alone, several] = [await teamOf('native-alone'), await teamOf('own-before')];
    const twice: Behaviour = (_request, response) =>
      void response.socket!.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'.repeat(2));
    const ask = async ({ key }: TestTeam): Promise<object> => {
      const reply = await request({ port: gateway.port, ...V1.translation(key, [HELLO]) });
      return { status: reply.status, asked: asked(String(reply.headers['x-request-id'])) };
    };
    for (const team of [alone, several]) expect(await ask(team)).toMatchObject({ status: 200 });
    const before = await attempts();
    engines.native.behave(twice);
    engines.own.behave(twice);
    expect(await ask(alone)).toEqual({ status: 200, asked: { native: 2 } });
    expect(await ask(several)).toEqual({ status: 200, asked: { own: 1, next: 1 } });
    expect(await attemptsSince(before)).toEqual({ 'native unasked': 1, 'native usable': 1, 'own unasked': 1, 'next usable': 1 });
    await expectCharged(alone, 2);
    await expectCharged(several, 2);
  });
});

/** The answer of a working engine, in its configured protocol. */
function rightOf(name: Name): RightAnswer {
  const engine = ENGINES[name];
  const protocol = 'protocol' in engine ? engine.protocol : 'native';
  return SUBJECTS[protocol === 'throwing' ? 'native' : protocol]!.right;
}

/** Without what distinguishes a request's calls. */
function idOf({ headers }: ScriptedRequest): string {
  return String(headers['x-request-id']).slice(0, ULID_LENGTH);
}

/** Misbehaves at the first call for a request, and answers the others. */
function onlyAtFirst(behaviour: Behaviour, right: RightAnswer): Behaviour {
  const known = new Set<string>();
  return (asking, response) => {
    const id = idOf(asking);
    act(known.has(id) ? 'ok' : behaviour, asking, response, response.socket!, right);
    known.add(id);
  };
}
