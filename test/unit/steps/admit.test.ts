// The admission in a real chain with the reference model: the result of every answer of the ledger, and what is charged for every outcome.
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { reserveSlot } from '../../../src/core/exchange.ts';
import type { Exchange, Handed, RequestHead } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import { json, LATER } from '../../../src/core/outcome.ts';
import type { Outcome, StepResult, StreamReply } from '../../../src/core/outcome.ts';
import { refuse } from '../../../src/core/problem.ts';
import { Router } from '../../../src/core/router.ts';
import { chargedCharacters, chargeSlot, judgeAgainSlot, refusedCharge, spareCharacters } from '../../../src/domain/charge.ts';
import type { Charge, JudgeAgain } from '../../../src/domain/charge.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { clientAddressReader } from '../../../src/domain/client-address.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { keyDigestSlot, keyOwnerSlot, NO_STATS, planSlot, requestStatsSlot } from '../../../src/domain/slots.ts';
import type { Admission, AskedAdmission } from '../../../src/ports/ledger.ts';
import { KnownFullWindows } from '../../../src/runtime/known-full-windows.ts';
import { SettlementQueue } from '../../../src/runtime/settlement-queue.ts';
import { admitStep } from '../../../src/steps/admit.ts';
import { withCallbacks } from '../../../src/stores/records/plugin-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { LEASE_MS, newId, PREPAID, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { referenceStore } from '../../support/reference-store.ts';
import { SILENT } from '../../support/silent-log.ts';
import { offersOver } from '../../support/offers.ts';

const HEAD: RequestHead = { method: 'POST', path: '/', query: '', headers: {} };
const DIGEST = 'digest of the key';
const TEN: Charge = { characters: 10, reserve: true, glossary: undefined, refusal: undefined };
const UNMETERED: Charge = { ...TEN, characters: undefined, reserve: false };
const OK = json('{}');
const FAILED = refuse('engine_unavailable', 'The engine is away.');
const stepsDone = reserveSlot<string>('steps done');

const gateways: Gateway[] = [];
afterEach(() => {
  for (const gateway of gateways.splice(0)) gateway.close();
});

interface Scene {
  readonly limits?: Partial<TeamLimits>;
  readonly balanceMicro?: number;
  readonly rateLimitHeaders?: boolean;
  readonly byPlan?: boolean;
  /** Checks the request again after the admission. */
  readonly again?: JudgeAgain;
  readonly leaseMs?: number;
  /** Whether an answer is written or the caller is gone. */
  readonly handed?: Handed;
  /** The store has done the operation, and its answer is lost. */
  readonly losesAnswers?: boolean;
  /** The store's answer instead of an admission, if any. */
  readonly instead?: (asked: AskedAdmission) => Admission | undefined;
  readonly remoteAddress?: string;
  readonly endpoint?: (x: Exchange) => StepResult;
}

/** A team, and a chain that is real except for the caller's end: key and charge are given, and the model has the accounts. */
async function scene({ limits, balanceMicro, endpoint = () => OK, ...choices }: Scene = {}) {
  const clock = new MovableClock();
  const store = referenceStore(clock);
  const team = await teamUnderTest(store, limits, balanceMicro);
  const ledger = withCallbacks(store.ledger);
  const told: Admission[] = [];
  const forgotten: string[] = [];
  const sent: Outcome[] = [];
  const streams: StreamReply[] = [];
  const bugs: unknown[] = [];
  const settlements = new SettlementQueue({
    ledger,
    now: () => clock.nowMs(),
    nowMs: () => clock.nowMs(),
    log: SILENT,
    leaseMs: LEASE_MS,
    onSettled: () => undefined,
  });
  const losing = (asked: AskedAdmission): void => {
    const answered = (): void => asked.answered({ kind: 'unavailable', cause: 'timeout' });
    ledger.admit(Object.assign(Object.create(asked) as AskedAdmission, { answered }));
  };
  const answering = (asked: AskedAdmission): void => {
    const answer = choices.instead?.(asked);
    if (answer === undefined) ledger.admit(asked);
    else queueMicrotask(() => asked.answered(answer));
  };
  const wanted: string[] = [];
  const full = new KnownFullWindows({ keysMax: 10, now: () => clock.nowMs() });
  const step = admitStep({
    ledger: { admit: choices.losesAnswers === true ? losing : answering },
    settlements,
    full,
    cache: {
      peek: () => undefined,
      find: () => undefined,
      noteWanted: (digest) => void wanted.push(digest),
      forget: (digest) => void forgotten.push(digest),
    },
    client: clientAddressReader([], 'x-forwarded-for'),
    leaseMs: choices.leaseMs ?? LEASE_MS,
    tagsMax: 2,
    rateLimitHeaders: choices.rateLimitHeaders ?? false,
    offers: { current: { ...offersOver(new Languages({ sources: [], targets: [] })), byPlan: choices.byPlan ?? false } },
    now: () => clock.nowMs(),
    onAdmission: (admission) => void told.push(admission),
    onUnavailable: () => undefined,
  });
  let next: { id: string; keyId: string; charge: Charge | 'none'; addressWanted?: boolean };
  const router = new Router([
    {
      method: 'POST',
      path: '/',
      takesBody: true,
      steps: [
        {
          kind: 'head',
          name: 'key',
          run(x) {
            x.set(keyDigestSlot, DIGEST);
            const hint = next.addressWanted === undefined ? {} : { addressWanted: next.addressWanted };
            x.set(keyOwnerSlot, { teamId: team.teamId, keyId: next.keyId, mode: 'live', ...hint });
            x.set(requestStatsSlot, { ...NO_STATS });
            return undefined;
          },
        },
        {
          kind: 'body',
          name: 'read',
          run(x) {
            if (next.charge !== 'none') x.set(chargeSlot, next.charge);
            x.set(judgeAgainSlot, choices.again);
            return undefined;
          },
        },
        step,
        {
          kind: 'body',
          name: 'endpoint',
          run(x) {
            x.set(stepsDone, 'reached');
            return endpoint(x);
          },
        },
      ],
    },
  ]);
  const gateway = new Gateway({
    router,
    around: [],
    newId: () => next.id,
    now: () => clock.nowMs(),
    requestMs: 60_000,
    reportBug: (_x, _where, error) => void bugs.push(error),
  });
  gateways.push(gateway);
  const sink = {
    send: (_x: Exchange, outcome: Outcome): Handed => (sent.push(outcome), choices.handed ?? 'written'),
    stream: (_x: Exchange, outcome: StreamReply): void => void streams.push(outcome),
    incoming: () => undefined,
    remoteAddress: () => choices.remoteAddress ?? '::ffff:10.0.0.7',
  };
  const start = (charge: Charge | 'none' = TEN, keyId = team.keyId, id = newId(), addressWanted?: boolean): Exchange => {
    next = { id, keyId, charge, ...(addressWanted === undefined ? {} : { addressWanted }) };
    const x = gateway.begin(HEAD, sink);
    gateway.body(x, new Uint8Array());
    return x;
  };
  /** Runs a request to its end, and waits until the ledger has settled it. */
  const request = async (...given: Parameters<typeof start>) => {
    const x = start(...given);
    await gateway.idle();
    await settlements.drained();
    return { x, outcome: sent.at(-1), reached: x.get(stepsDone) !== undefined, headers: x.responseHeaders };
  };
  return { clock, store, team, gateway, settlements, told, forgotten, sent, streams, bugs, wanted, start, request };
}

function problem(outcome: Outcome | undefined) {
  return outcome?.kind === 'problem' ? { code: outcome.problem.code, fields: outcome.problem.fields } : outcome;
}

describe('answers of the ledger', () => {
  test.each<[string, Charge | 'none']>([
    ['without a charge', 'none'],
    ['with a charge that has no characters', UNMETERED],
  ])('%s the request counts for the rate and reserves nothing', async (_name, charge) => {
    const { start, told, team } = await scene({ limits: { requestsPerSecond: 1 }, endpoint: () => LATER });
    start(charge);
    await expect.poll(() => told).toEqual([{ kind: 'admitted', reservation: undefined }]);
    expect(await team.standing()).toMatchObject({ openReservations: 0, heldCharacters: 0 });
    const again = start(charge);
    await expect.poll(() => again.outcome).toBeDefined();
    expect(problem(again.outcome)).toMatchObject({ code: 'rate_limited' });
  });

  test('rate_limited: until a slot may be free, the same answer follows the head, and the store is not asked', async () => {
    let asked = 0;
    const instead = (): undefined => void asked++;
    const { request, start, clock, told } = await scene({ limits: { requestsPerSecond: 1 }, rateLimitHeaders: true, instead });
    await request();
    clock.step(400);
    const refused = await request();
    const repeated = start();
    expect(repeated.bodyDue).toBe(true);
    expect([repeated.outcome, repeated.responseHeaders]).toEqual([refused.outcome, refused.headers]);
    expect(repeated.need(requestStatsSlot)).toMatchObject({ limitOf: 'team', storeMs: 0 });
    expect({ asked, told: told.map(({ kind }) => kind) }).toEqual({ asked: 2, told: ['admitted', 'rate_limited', 'rate_limited'] });
    clock.step(598);
    start();
    expect(asked).toBe(2);
    clock.step(1);
    expect([(await request()).outcome, asked]).toEqual([refused.outcome, 3]);
    clock.step(1);
    expect([(await request()).reached, asked]).toEqual([true, 4]);
  });

  test('unavailable: refused, and what the store may have reserved is released by its id', async () => {
    const { request, team, told } = await scene({ losesAnswers: true, rateLimitHeaders: true });
    const { x, outcome, reached, headers } = await request();
    expect({ reached, headers, told: told.map(({ kind }) => kind) }).toEqual({ reached: false, headers: [], told: ['unavailable'] });
    expect(problem(outcome)).toMatchObject({ code: 'service_unavailable' });
    expect(await team.standing()).toMatchObject({ openReservations: 0, heldCharacters: 0, usedCharacters: 0 });
    expect(await team.commit(x.id)).toEqual({ kind: 'absent' });
  });
});

test.each([
  [undefined, /has been revoked/],
  ['disabled', /is disabled/],
  ['expired', /has expired/],
] as const)('key_revoked, %s: the detail says that', async (reason, words) => {
  const { request } = await scene({ instead: () => ({ kind: 'key_revoked', ...(reason === undefined ? {} : { reason }) }) });
  const { outcome } = await request();
  expect(outcome).toMatchObject({ kind: 'problem', problem: { code: 'key_revoked', detail: expect.stringMatching(words) as string } });
});

describe('an invalid request', () => {
  const wrong = refuse('validation_error', 'text: is missing.');

  test('is refused because of the rate, the key and its length first', async () => {
    const { request, clock, store, team } = await scene({ limits: { requestsPerSecond: 1, maxCharactersPerRequest: 9 } });
    expect(problem((await request(refusedCharge(wrong, 10))).outcome)).toMatchObject({ code: 'text_too_long' });
    expect(problem((await request(refusedCharge(wrong))).outcome)).toMatchObject({ code: 'rate_limited' });
    clock.step(1000);
    expect((await request(refusedCharge(wrong))).outcome).toBe(wrong);
    await store.teams.revokeKey(team.keyId);
    expect(problem((await request(refusedCharge(wrong))).outcome)).toMatchObject({ code: 'key_revoked' });
  });
});

describe('an admitted request', () => {
  const charged = { usedCharacters: 10, heldCharacters: 0, openReservations: 0 };
  const released = { usedCharacters: 0, heldCharacters: 0, openReservations: 0 };
  const stream: StreamReply = {
    kind: 'stream',
    status: 200,
    contentType: 'text/plain',
    headers: [],
    bytes: undefined,
    body: new Readable(),
    broken: FAILED,
  };

  test.each<[string, Scene, typeof charged]>([
    ['is charged if its answer was written', {}, charged],
    ['is not charged if its caller had gone', { handed: 'gone' }, released],
    ['is not charged for a refusal', { endpoint: () => FAILED }, released],
    [
      'is not charged for a bug',
      {
        endpoint: () => {
          throw new Error('bug');
        },
      },
      released,
    ],
  ])('%s', async (_name, given, expected) => {
    const { request, team } = await scene(given);
    await request();
    expect(await team.standing()).toMatchObject(expected);
  });

  test.each<[name: string, spared: readonly number[], expected: number]>([
    ['some characters', [3], 7],
    ['some, and more', [3, 0, 4], 3],
    ['all', [10], 0],
    ['more than were sent', [7, 7], 0],
  ])('is not charged for %s that are spared, and still counted', async (_name, spared, expected) => {
    const { request, team } = await scene({
      limits: PREPAID,
      balanceMicro: 1_000_000,
      endpoint(x) {
        for (const count of spared) expect(spareCharacters(x, count)).toBe(true);
        return OK;
      },
    });
    const { x } = await request();
    expect(chargedCharacters(x)).toBe(expected);
    expect(await team.standing()).toEqual({
      usedCharacters: expected,
      heldCharacters: 0,
      allowanceUsed: 0,
      allowanceHeld: 0,
      balanceMicro: 1_000_000 - expected * 2500,
      heldMicro: 0,
      openReservations: 0,
    });
    expect(await team.usage()).toMatchObject({ keys: [{ characters: expected, requests: 1 }] });
  });

  test('nothing is spared if nothing was reserved', async () => {
    const spared: boolean[] = [];
    const endpoint = (x: Exchange): StepResult => (spared.push(spareCharacters(x, 4)), OK);
    const unmetered = await scene({ endpoint });
    expect(chargedCharacters((await unmetered.request(UNMETERED)).x)).toBe(0);
    expect(spared).toEqual([false]);
  });

  test('is not charged if it fails, whatever was spared', async () => {
    const { request, team } = await scene({ endpoint: (x) => (spareCharacters(x, 4), FAILED) });
    await request();
    expect(await team.standing()).toMatchObject(released);
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('sparing %d characters is a bug, and nothing is charged', async (count) => {
    const { request, team, bugs } = await scene({ endpoint: (x) => (spareCharacters(x, count), OK) });
    expect(problem((await request()).outcome)).toMatchObject({ code: 'internal_error' });
    expect(bugs).toMatchObject([{ message: `${count} is no number of characters to spare` }]);
    expect(await team.standing()).toMatchObject(released);
  });

  test.each<[how: 'delivered' | 'broken' | 'gone', expected: typeof charged]>([
    ['delivered', charged],
    ['broken', released],
    ['gone', released],
  ])('with a streamed answer that is %s is charged accordingly', async (how, expected) => {
    const { start, gateway, settlements, streams, team } = await scene({ endpoint: () => stream });
    const x = start();
    await expect.poll(() => streams.length).toBe(1);
    expect(await team.standing()).toMatchObject({ heldCharacters: 10 });
    gateway.streamed(x, stream, how);
    await settlements.drained();
    expect(await team.standing()).toMatchObject(expected);
  });

  test('whose caller leaves during the admission is released afterwards', async () => {
    const { start, gateway, settlements, told, team } = await scene();
    const x = start();
    gateway.abort(x);
    await gateway.idle();
    await settlements.drained();
    expect({ told: told.map(({ kind }) => kind), reached: x.get(stepsDone) }).toEqual({ told: ['admitted'], reached: undefined });
    expect(await team.standing()).toMatchObject(released);
  });

  test('whose caller leaves while the engine works is not charged, whatever that answers', async () => {
    const waiting: Exchange[] = [];
    const { start, gateway, settlements, team } = await scene({ endpoint: (x) => (waiting.push(x), LATER) });
    const x = start();
    await expect.poll(() => waiting.length).toBe(1);
    gateway.abort(x);
    x.resume(() => OK, undefined);
    await settlements.drained();
    expect(await team.standing()).toMatchObject(released);
  });

  test('holds its reservation for the configured lease', async () => {
    const { start, team, clock, told } = await scene({ leaseMs: 700, endpoint: () => LATER });
    start();
    await expect.poll(() => told.length).toBe(1);
    clock.step(699);
    expect(await team.standing()).toMatchObject({ heldCharacters: 10 });
    clock.step(1);
    expect(await team.standing()).toMatchObject(released);
  });

  test('has the store’s time in its log line', async () => {
    const { start, clock, gateway } = await scene();
    const x = start();
    clock.step(30);
    await gateway.idle();
    expect(x.need(requestStatsSlot).storeMs).toBe(30);
  });
});

test('a ledger that throws is a bug: internal_error, and nothing is settled', async () => {
  const { request, bugs, team, store } = await scene();
  store.ledger.admit = () => {
    throw new Error('a bug of the store');
  };
  expect(problem((await request()).outcome)).toMatchObject({ code: 'internal_error' });
  expect(bugs).toMatchObject([{ message: 'a bug of the store' }]);
  expect(await team.standing()).toMatchObject({ openReservations: 0 });
});

describe('if the offer depends on the plan', () => {
  const NOT_OFFERED = refuse('validation_error', 'target_lang: is not offered.');
  const judging = (refusal = false): { again: JudgeAgain; judged: (string | undefined)[] } => {
    const judged: (string | undefined)[] = [];
    return { judged, again: { refusal: undefined, judge: () => (judged.push('judged'), refusal ? NOT_OFFERED : undefined) } };
  };

  test('a request is checked again once its plan is known, and the closure for that is released before the engine is called', async () => {
    const { again, judged } = judging();
    let kept: unknown = 'not reached';
    const endpoint = (x: Exchange): StepResult => ((kept = x.get(judgeAgainSlot)), OK);
    const { request } = await scene({ byPlan: true, again, endpoint });
    const { x, outcome } = await request();
    expect({ outcome, judged, kept, plan: x.get(planSlot) }).toEqual({ outcome: OK, judged: ['judged'], kept: undefined, plan: 'test' });
  });

  test('a request that a step has refused since is not checked again, and gets that refusal', async () => {
    const { again, judged } = judging();
    const { request } = await scene({ byPlan: true, again: { ...again, refusal: NOT_OFFERED } });
    expect([(await request()).outcome, judged]).toEqual([OK, []]);
  });

  test.each<[name: string, limits: Partial<TeamLimits>, code: string]>([
    ['admitted', {}, 'validation_error'],
    ['quota_exceeded', { characterLimit: 5 }, 'validation_error'],
    // A rule of the text, which takes precedence.
    ['text_too_long', { maxCharactersPerRequest: 5 }, 'text_too_long'],
  ])('%s: a request refused because of its plan is not charged', async (kind, limits, code) => {
    const { again, judged } = judging(true);
    const { request, team, told } = await scene({ byPlan: true, again, limits });
    const { x, outcome } = await request();
    expect([told.map((one) => one.kind), problem(outcome)]).toMatchObject([[kind], { code }]);
    expect([judged.length, x.get(judgeAgainSlot)]).toEqual([code === 'validation_error' ? 1 : 0, undefined]);
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, openReservations: 0 });
  });

  test('a request that does not count for the rate is not checked again, and its closure is released too', async () => {
    const { again, judged } = judging();
    const { request } = await scene({ byPlan: true, again, limits: { requestsPerSecond: 1 } });
    await request();
    const { x, outcome } = await request();
    expect([problem(outcome), judged.length, x.get(judgeAgainSlot)]).toMatchObject([{ code: 'rate_limited' }, 1, undefined]);
  });
});
