// Concurrency slots of the process and of a team: never exceeded, and all released, whatever ends a request.
import { createHook } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_CALLER } from '../../../src/core/exchange.ts';
import type { Exchange } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import { json, keyOwnerSlot, refuse } from '../../../src/index.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { Router } from '../../../src/core/router.ts';
import type { BodyStep, HeadStep } from '../../../src/core/pipeline.ts';
import { OVERLOADED } from '../../../src/domain/refusals.ts';
import type { ShedReason } from '../../../src/ports/access-entry.ts';
import { LoopPressure, shedStep, teamShedStep } from '../../../src/steps/shed.ts';

const TEAMS = ['a', 'b', 'c'];
const PROCESS_MAX = 6;
const TEAM_MAX = 3;
const OK = json('{}');

interface Site {
  readonly gateway: Gateway;
  readonly shed: ShedReason[];
  /** Answers of requests that wait, by request. */
  readonly waiting: Map<Exchange, (outcome: Outcome | Error) => void>;
  begin(team: string): Exchange;
}

/** A gateway whose requests wait behind both steps until the test ends them. */
function site(processMax = PROCESS_MAX, teamMax = TEAM_MAX): Site {
  const shed: ShedReason[] = [];
  const waiting: Site['waiting'] = new Map();
  const onShed = (reason: ShedReason): void => void shed.push(reason);
  const known: HeadStep = {
    kind: 'head',
    name: 'known',
    run(x) {
      x.set(keyOwnerSlot, { keyId: 'k', teamId: x.head.query, mode: 'live' });
      return undefined;
    },
  };
  const wait: BodyStep = {
    kind: 'body',
    name: 'wait',
    run: (x) =>
      new Promise((resolve, reject) => {
        waiting.set(x, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
        // Like the engine: an aborted call returns at once.
        x.onCancel(() => resolve(undefined));
      }),
  };
  const steps = [
    shedStep({ concurrencyMax: processMax, pressure: { overloaded: () => false }, onShed }),
    known,
    teamShedStep({ concurrencyMax: teamMax, onShed }),
    wait,
  ];
  const gateway = new Gateway({
    router: new Router([{ method: 'POST', path: '/x', takesBody: true, steps }]),
    around: [],
    newId: () => '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    now: () => 0,
    requestMs: 1000,
    reportBug: () => undefined,
  });
  return {
    gateway,
    shed,
    waiting,
    begin: (team) => gateway.begin({ method: 'POST', path: '/x', query: team, headers: {} }, { ...NO_CALLER, send: () => 'written' }),
  };
}

type Move =
  | { readonly kind: 'begin'; readonly team: string }
  | { readonly kind: 'body' | 'abort' | 'answer' | 'throw' | 'broken_body'; readonly which: number };

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('begin' as const), team: fc.constantFrom(...TEAMS) }) },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constantFrom('body', 'body', 'abort', 'answer', 'throw', 'broken_body'), which: fc.nat(1000) }),
    },
  ),
  { maxLength: 80 },
);

async function play(h: Site, all: Exchange[], move: Move): Promise<void> {
  if (move.kind === 'begin') {
    all.push(h.begin(move.team));
    return;
  }
  const x = all[move.which % Math.max(1, all.length)];
  if (x === undefined) return;
  if (move.kind === 'body' && !x.waiting) h.gateway.body(x, 'none');
  else if (move.kind === 'abort') h.gateway.abort(x);
  else if (move.kind === 'answer') h.waiting.get(x)?.(OK);
  else if (move.kind === 'throw') h.waiting.get(x)?.(new Error('a bug'));
  else if (move.kind === 'broken_body' && !x.answered) h.gateway.callOff(x, refuse('validation_error', 'broken'));
  for (let turn = 0; turn < 6; turn++) await Promise.resolve();
}

/** How many requests of a team are admitted now; all of them are ended again. */
async function free(h: Site, team: string): Promise<number> {
  const opened: Exchange[] = [];
  for (;;) {
    const x = h.begin(team);
    h.gateway.body(x, 'none');
    if (x.outcome !== undefined) break;
    opened.push(x);
  }
  for (const x of opened) h.gateway.abort(x);
  await h.gateway.idle();
  return opened.length;
}

describe('slots', () => {
  test('are never exceeded and all released, in any order of bodies, answers, aborts, bugs and broken bodies', async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (drawn) => {
        const h = site();
        const all: Exchange[] = [];
        try {
          for (const move of drawn) {
            await play(h, all, move);
            const open = all.filter((x) => x.outcome === undefined);
            // Any number may still be sending their bodies.
            expect(open.filter((x) => x.stage === 'entered').length).toBeLessThanOrEqual(PROCESS_MAX);
            for (const team of TEAMS) {
              expect(open.filter((x) => x.waiting && x.head.query === team).length).toBeLessThanOrEqual(TEAM_MAX);
            }
          }
          for (const x of all) h.gateway.abort(x);
          await h.gateway.idle();
          for (const team of TEAMS) expect(await free(h, team)).toBe(TEAM_MAX);
          expect(all.every((x) => x.outcome !== undefined)).toBe(true);
        } finally {
          h.gateway.close();
        }
      }),
      { numRuns: 300 },
    );
  });

  test('a full process refuses every team with 503 service_unavailable, and serves again when one request has ended', async () => {
    const h = site(2, 10);
    // A request whose body has not arrived holds no slot.
    const [delayed, later] = [h.begin('a'), h.begin('b'), h.begin('c')];
    const [first, second] = [h.begin('a'), h.begin('b')];
    for (const x of [first, second]) h.gateway.body(x, 'none');
    // Refused at the head, and when all has arrived.
    expect(h.begin('c').outcome).toBe(OVERLOADED);
    h.gateway.body(delayed, 'none');
    expect(delayed.outcome).toBe(OVERLOADED);
    expect(OVERLOADED.problem.code).toBe('service_unavailable');
    expect(h.shed).toEqual(['concurrency', 'concurrency']);
    h.gateway.abort(first);
    await nextTurn();
    expect(h.begin('c').outcome).toBeUndefined();
    h.gateway.body(later, 'none');
    expect(later.outcome).toBeUndefined();
    h.gateway.close();
  });

  test('a team that has all its slots leaves the others theirs, and holds none by bodies that never arrive', async () => {
    const h = site(100, 2);
    // A caller with a team's key who never sends a body.
    for (let i = 0; i < 10; i++) h.begin('a');
    for (const team of ['a', 'a', 'b']) h.gateway.body(h.begin(team), 'none');
    const refused = h.begin('a');
    h.gateway.body(refused, 'none');
    expect(refused.outcome).toBe(OVERLOADED);
    expect(h.shed).toEqual(['team_concurrency']);
    const other = h.begin('b');
    h.gateway.body(other, 'none');
    expect(other.waiting).toBe(true);
    h.gateway.close();
  });

  test('cost no promise', () => {
    const h = site();
    let promises = 0;
    const hook = createHook({ init: (_id, type) => void (promises += Number(type === 'PROMISE')) }).enable();
    for (let i = 0; i < 50; i++) h.gateway.abort(h.begin('a'));
    hook.disable();
    expect(promises).toBe(0);
    h.gateway.close();
  });
});

describe('a turn of the event loop', () => {
  /** Which of the requests of one turn are refused, when they arrive at these times. */
  function refusedAt(times: readonly number[], boundMs = 200): number[] {
    let nowMs = 0;
    const pressure = new LoopPressure({ boundMs, now: () => nowMs });
    return times.filter((atMs) => {
      nowMs = atMs;
      return pressure.overloaded();
    });
  }

  test('accepts requests until it has taken longer than the limit, and sheds the rest', () => {
    expect(refusedAt([1000, 1001, 1200, 1201, 1202, 9000])).toEqual([1201, 1202, 9000]);
  });

  test('with a limit of 0 accepts all', () => {
    expect(refusedAt([0, 1e6, 2e6], 0)).toEqual([]);
  });

  test('is followed by one that accepts requests again, however long the loop was blocked in between', async () => {
    let nowMs = 0;
    const pressure = new LoopPressure({ boundMs: 200, now: () => nowMs });
    expect(pressure.overloaded()).toBe(false);
    nowMs = 500;
    expect(pressure.overloaded()).toBe(true);
    await nextTurn();
    nowMs = 100_000;
    expect(pressure.overloaded()).toBe(false);
    expect(pressure.overloaded()).toBe(false);
  });
});
