// Whatever requests arrive together and whatever fails, a caller cannot distinguish batches from calls of its own, except by speed.
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCharacters } from '../../../src/domain/characters.ts';
import { Balancer } from '../../../src/engines/balancer.ts';
import type { EngineResult, EngineWork } from '../../../src/ports/engine.ts';
import { faults, PlannedAdapter, scene, translationsOf } from './batch-scene.ts';
import type { CallFault, Scene } from './batch-scene.ts';
import { asked, Caller } from './engine-work.ts';

const RUNS = 150;
/** Without planned faults no attempt may fail, however busy the machine is. */
const LONG_TIMEOUT_MS = 10_000;
const SHORT_TIMEOUT_MS = 15;

interface Played {
  readonly results: readonly EngineResult[];
  readonly calls: readonly EngineWork[];
}

async function play({ requests, limits: batch }: Scene, planned: readonly CallFault[], batched: boolean): Promise<Played> {
  const protocol = new PlannedAdapter(planned);
  const wire = {
    urls: ['http://127.0.0.1:1', 'http://127.0.0.1:2'],
    timeoutMs: planned.length === 0 ? LONG_TIMEOUT_MS : SHORT_TIMEOUT_MS,
    responseBytesMax: 1 << 20,
    connectionsMax: 1,
    queueMax: 0,
  };
  const engine = new Balancer({ ...wire, protocol, batch: batched ? batch : undefined });
  const results = await Promise.all(
    requests.map(async ({ work, comesAfter, leavesAfter }) => {
      for (let turns = comesAfter; turns > 0; turns--) await turn();
      const caller = new Caller();
      const result = asked(engine, work, caller);
      if (leavesAfter !== undefined) {
        for (let turns = leavesAfter; turns > 0; turns--) await turn();
        caller.leave();
      }
      const settled = await result;
      if (!caller.cancelled) expect(caller.listener).toBeUndefined();
      return settled;
    }),
  );
  await engine.close();
  return { results, calls: protocol.calls };
}

/** The parts of a result that affect the caller and its charge. */
function seen(result: EngineResult): unknown {
  return result.kind === 'usable' ? result.translations : 'unavailable';
}

function staying({ requests, limits: chosen }: Scene): Scene {
  return { limits: chosen, requests: requests.map((each) => ({ ...each, leavesAfter: undefined })) };
}

/** The numbers of the requests with texts in a call. */
function membersOf(call: EngineWork): number[] {
  return [...new Set(call.text.map((text) => Number.parseInt(text, 10)))];
}

describe('for random requests', () => {
  test('and an engine that is healthy, or fails on certain texts, every answer is the same as without batches', async () => {
    let shared = 0;
    await fc.assert(
      fc.asyncProperty(scene.map(staying), async (drawn) => {
        const [alone, together] = [await play(drawn, [], false), await play(drawn, [], true)];
        expect(together.results.map(seen)).toEqual(alone.results.map(seen));
        shared += together.calls.filter((call) => membersOf(call).length > 1).length;
      }),
      { numRuns: RUNS },
    );
    expect(shared).toBeGreaterThan(RUNS / 5);
  });

  test('and an engine that fails at random, each gets the translations of its own texts or none, after at most two attempts', async () => {
    await fc.assert(
      fc.asyncProperty(scene, faults, async (drawn, planned) => {
        const { results, calls } = await play(drawn, planned, true);
        for (const [index, { work, leavesAfter }] of drawn.requests.entries()) {
          const result = results[index]!;
          const attempts = calls.filter((call) => membersOf(call).includes(index));
          expect(attempts.length).toBeLessThanOrEqual(2);
          expect(result.failures.length + Number(result.kind === 'usable')).toBe(attempts.length);
          if (result.kind === 'usable') expect(result.translations).toEqual(translationsOf(work));
          // Faults of other requests cost a caller that stays neither of its two attempts.
          else if (leavesAfter === undefined) expect(result.failures).toHaveLength(2);
          // All texts or none, in order and adjacent; a second attempt is not shared.
          for (const [number, call] of attempts.entries()) {
            const from = call.text.indexOf(work.text[0]!);
            expect(call.text.slice(from, from + work.text.length)).toEqual(work.text);
            if (number === 1) expect(call.text).toEqual(work.text);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('a call has requests with equal options only, and stays within its limits', async () => {
    await fc.assert(
      fc.asyncProperty(scene, faults, async (drawn, planned) => {
        const { calls } = await play(drawn, planned, true);
        for (const call of calls) {
          const members = membersOf(call);
          for (const member of members) expect(call.options).toEqual(drawn.requests[member]!.work.options);
          expect(call.requestId).toBe(`request-${members[0]}`);
          if (members.length === 1) continue;
          expect(call.text.length).toBeLessThanOrEqual(drawn.limits.textsMax);
          expect(countCharacters(call.text.join(''))).toBeLessThanOrEqual(drawn.limits.charactersMax);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
