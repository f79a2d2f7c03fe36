// The admission in a real chain with the reference model: what is refused again without the store,
// and what is judged again by the plan.
import { afterEach, expect, test } from 'vitest';
import { NO_CALLER } from '../../../src/core/exchange.ts';
import type { Exchange } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import { json } from '../../../src/core/outcome.ts';
import type { StepResult } from '../../../src/core/outcome.ts';
import { Router } from '../../../src/core/router.ts';
import type { BodyStep, HeadStep } from '../../../src/core/pipeline.ts';
import {
  chargeSlot,
  judgeAgainSlot,
  keyDigestSlot,
  keyOwnerSlot,
  NO_STATS,
  planSlot,
  requestStatsSlot,
} from '../../../src/domain/slots.ts';
import type { JudgeAgain } from '../../../src/domain/slots.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { clientAddressReader } from '../../../src/domain/client-address.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { Admission } from '../../../src/ports/ledger.ts';
import { KnownFullWindows } from '../../../src/runtime/refusals.ts';
import { SettlementQueue } from '../../../src/runtime/settlement-queue.ts';
import { admitStep } from '../../../src/steps/admit.ts';
import { withCallbacks } from '../../../src/stores/records/plugin-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { LEASE_MS, newId, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { referenceStore } from '../../support/reference-store.ts';
import { SILENT } from '../../support/silent-log.ts';
import { offersOver } from '../../support/offers.ts';

const OK = json('{}');

const gateways: Gateway[] = [];
afterEach(() => {
  for (const gateway of gateways.splice(0)) gateway.close();
});

interface Scene {
  readonly limits?: Partial<TeamLimits>;
  /** Checks the request again after the admission. */
  readonly again?: JudgeAgain;
  readonly endpoint?: (x: Exchange) => StepResult;
}

/** A team, and a chain that is real except for the caller's end: key and charge are given, and the model has the accounts. */
async function scene({ limits, again, endpoint = () => OK }: Scene) {
  const clock = new MovableClock();
  const now = (): number => clock.nowMs();
  const store = referenceStore(clock);
  const { teamId, keyId } = await teamUnderTest(store, limits);
  const ledger = withCallbacks(store.ledger);
  const answers: Admission[] = [];
  const counts = { asked: 0 };
  const settlements = new SettlementQueue({ ledger, now, nowMs: now, log: SILENT, leaseMs: LEASE_MS, onSettled: () => undefined });
  const admit = admitStep({
    ledger: {
      admit(asked) {
        counts.asked++;
        ledger.admit(asked);
      },
    },
    settlements,
    full: new KnownFullWindows({ keysMax: 10, now }),
    cache: { peek: () => undefined, find: () => undefined, noteRequired: () => undefined, forget: () => undefined },
    client: clientAddressReader([], 'x-forwarded-for'),
    leaseMs: LEASE_MS,
    tagsMax: 2,
    rateLimitHeaders: true,
    offers: { current: { ...offersOver(new Languages({ sources: [], targets: [] })), byPlan: again !== undefined } },
    now,
    onAdmission: (admission) => void answers.push(admission),
    onUnavailable: () => undefined,
  });
  const key: HeadStep = {
    kind: 'head',
    name: 'key',
    run(x) {
      x.set(keyDigestSlot, 'digest of the key');
      x.set(keyOwnerSlot, { teamId, keyId, mode: 'live' });
      x.set(requestStatsSlot, { ...NO_STATS });
      return undefined;
    },
  };
  const read: BodyStep = {
    kind: 'body',
    name: 'read',
    run(x) {
      x.set(chargeSlot, { characters: 10, reserve: true, glossary: undefined, refusal: undefined });
      x.set(judgeAgainSlot, again);
      return undefined;
    },
  };
  const steps = [key, read, admit, { kind: 'body', name: 'endpoint', run: endpoint } as const];
  const gateway = new Gateway({
    router: new Router([{ method: 'POST', path: '/', takesBody: true, steps }]),
    around: [],
    newId,
    now,
    requestMs: 60_000,
    reportBug: () => undefined,
  });
  gateways.push(gateway);
  const start = (): Exchange => {
    const x = gateway.begin({ method: 'POST', path: '/', query: '', headers: {} }, { ...NO_CALLER, send: () => 'written' });
    gateway.body(x, new Uint8Array());
    return x;
  };
  /** Runs a request to its end, and waits until the ledger has settled it. */
  const request = async (): Promise<Exchange> => {
    const x = start();
    await gateway.idle();
    await settlements.drained();
    return x;
  };
  return { clock, answers, counts, start, request };
}

test('rate_limited: until a slot may be free, the same answer follows the head, and the store is not asked', async () => {
  const { request, start, clock, answers, counts } = await scene({ limits: { requestsPerSecond: 1 } });
  await request();
  clock.step(400);
  const refused = await request();
  const repeated = start();
  expect(repeated.stage).toBe('arriving');
  expect([repeated.outcome, repeated.responseHeaders]).toEqual([refused.outcome, refused.responseHeaders]);
  expect(repeated.need(requestStatsSlot)).toMatchObject({ limitOf: 'team', storeMs: 0 });
  expect({ ...counts, answers: answers.map(({ kind }) => kind) }).toEqual({
    asked: 2,
    answers: ['admitted', 'rate_limited', 'rate_limited'],
  });
  clock.step(598);
  start();
  expect(counts.asked).toBe(2);
  clock.step(1);
  expect([(await request()).outcome, counts.asked]).toEqual([refused.outcome, 3]);
  clock.step(1);
  expect([(await request()).outcome, counts.asked]).toEqual([OK, 4]);
});

test('a request is checked again once its plan is known, and the closure for that is released before the engine is called', async () => {
  let judged = 0;
  let retained: unknown = 'not reached';
  const again: JudgeAgain = { refusal: undefined, judge: () => void judged++ };
  const endpoint = (x: Exchange): StepResult => ((retained = x.get(judgeAgainSlot)), OK);
  const x = await (await scene({ again, endpoint })).request();
  expect({ outcome: x.outcome, judged, retained, plan: x.get(planSlot) }).toEqual({
    outcome: OK,
    judged: 1,
    retained: undefined,
    plan: 'test',
  });
});
