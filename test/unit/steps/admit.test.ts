// The admission in a real chain with the reference model: the result of every answer of the ledger, and what is charged for every outcome.
import { afterEach, describe, expect, test } from 'vitest';
import { reserveSlot } from '../../../src/core/exchange.ts';
import type { Exchange, Handed, RequestHead } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import { json } from '../../../src/core/outcome.ts';
import type { Outcome, StepResult, StreamReply } from '../../../src/core/outcome.ts';
import { refuse } from '../../../src/core/problem.ts';
import { Router } from '../../../src/core/router.ts';
import {
  chargeSlot,
  judgeAgainSlot,
  keyDigestSlot,
  keyOwnerSlot,
  NO_STATS,
  planSlot,
  requestStatsSlot,
} from '../../../src/domain/slots.ts';
import type { Charge, JudgeAgain } from '../../../src/domain/slots.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { clientAddressReader } from '../../../src/domain/client-address.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { Admission, AskedAdmission } from '../../../src/ports/ledger.ts';
import { KnownFullWindows } from '../../../src/runtime/refusals.ts';
import { SettlementQueue } from '../../../src/runtime/settlement-queue.ts';
import { admitStep } from '../../../src/steps/admit.ts';
import { withCallbacks } from '../../../src/stores/records/plugin-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { LEASE_MS, newId, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { referenceStore } from '../../support/reference-store.ts';
import { SILENT } from '../../support/silent-log.ts';
import { offersOver } from '../../support/offers.ts';

const HEAD: RequestHead = { method: 'POST', path: '/', query: '', headers: {} };
const DIGEST = 'digest of the key';
const TEN: Charge = { characters: 10, reserve: true, glossary: undefined, refusal: undefined };
const OK = json('{}');
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
      noteRequired: (digest) => void wanted.push(digest),
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
  let next: { id: string; keyId: string; charge: Charge | 'none'; addressRequired?: boolean };
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
            const hint = next.addressRequired === undefined ? {} : { addressRequired: next.addressRequired };
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
    receivedBytes: 0,
  };
  const start = (charge: Charge | 'none' = TEN, keyId = team.keyId, id = newId(), addressRequired?: boolean): Exchange => {
    next = { id, keyId, charge, ...(addressRequired === undefined ? {} : { addressRequired }) };
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

describe('answers of the ledger', () => {
  test('rate_limited: until a slot may be free, the same answer follows the head, and the store is not asked', async () => {
    let asked = 0;
    const instead = (): undefined => void asked++;
    const { request, start, clock, told } = await scene({ limits: { requestsPerSecond: 1 }, rateLimitHeaders: true, instead });
    await request();
    clock.step(400);
    const refused = await request();
    const repeated = start();
    expect(repeated.stage).toBe('arriving');
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
});
