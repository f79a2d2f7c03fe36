// The fair queue of a replica: teams take turns, and none gets more than its share while others are active.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { TeamTurns } from '../../../../src/engines/http1/team-turns.ts';
import { lengthAnswer, make, RawEngine, rested, wireTo } from '../raw-engine.ts';
import type { Made } from '../raw-engine.ts';
import type { Pool, PoolLimits } from '../../../../src/engines/http1/pool.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0).toReversed()) await item.close();
});

interface Scene {
  readonly engine: RawEngine;
  readonly wire: Pool;
  /** The teams of the calls that the engine holds, in their order of arrival. */
  readonly held: { readonly team: string; answer(): void }[];
  nowMs: number;
}

/** An engine that answers on demand; the body of a call is its team's name. */
async function scene(limits: Partial<PoolLimits> = {}): Promise<Scene> {
  const engine = await new RawEngine().listen();
  const made: Scene = { engine, wire: undefined as unknown as Pool, held: [], nowMs: 0 };
  engine.respond = ({ socket }, team) => void made.held.push({ team, answer: () => void socket.write(lengthAnswer(team)) });
  const wire = wireTo(`http://127.0.0.1:${engine.port}`, { nowMs: () => made.nowMs, queueMax: 100, timeoutMs: 60_000, ...limits });
  open.push(engine, { close: () => wire.destroy() });
  return Object.assign(made, { wire });
}

const calls = ({ wire }: Scene, team: string, count: number): Made[] =>
  Array.from({ length: count }, () => make(wire, { body: team }, 'reused', { teamId: team }));
/** Answers the oldest held call, or that of a team, and waits until the engine holds `left` calls. */
async function answerOne(made: Scene, left: number, team?: string): Promise<void> {
  const at = team === undefined ? 0 : made.held.findIndex((call) => call.team === team);
  made.held.splice(at, 1)[0]!.answer();
  await rested();
  await made.engine.until(() => made.held.length === left);
}

describe('at one replica', () => {
  test('a full queue drops the latest call of the team that has most in it', async () => {
    const made = await scene({ connectionsMax: 1, queueMax: 4 });
    const a = calls(made, 'a', 5);
    await made.engine.until(() => made.held.length === 1);
    const [over] = calls(made, 'a', 1);
    const b = calls(made, 'b', 3);
    expect(await Promise.all([over!.result, a[4]!.result, a[3]!.result, b[2]!.result])).toEqual(['busy', 'busy', 'busy', 'busy']);
    for (const left of [1, 1, 1, 1, 0]) await answerOne(made, left);
    expect(await Promise.all([...a.slice(0, 3), ...b.slice(0, 2)].map(({ result }) => result))).toEqual([
      ...Array.from({ length: 3 }, () => '200 a'),
      '200 b',
      '200 b',
    ]);
  });
});

test('in any order of calls none is lost, no team exceeds its share, and none has two turns while another waits for one', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('call' as const), team: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ kind: fc.constant('end' as const), which: fc.nat(50) }),
    fc.record({ kind: fc.constant('leave' as const), which: fc.nat(50) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 6000 }) }),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.array(step, { maxLength: 120 }),
      (places, share, steps) => {
        let nowMs = 0;
        const turns = new TeamTurns<{ readonly team: string }>(places, share, () => nowMs);
        const shareMax = Math.max(1, Math.floor(places * share));
        const running: { readonly team: string }[] = [];
        const waiting: { readonly team: string }[] = [];
        const calledMs = new Map<string, number>();
        const of = (list: readonly { readonly team: string }[], team: string): number => list.filter((call) => call.team === team).length;
        const othersThere = (team: string): boolean =>
          waiting.some((call) => call.team !== team) || [...calledMs].some(([other, atMs]) => other !== team && nowMs - atMs < 10_000);
        const mayHave = (team: string): boolean => of(running, team) < shareMax || !othersThere(team);
        const lane = (team: string) => {
          calledMs.set(team, nowMs);
          return turns.called(team);
        };
        const lanes = new Map<string, ReturnType<typeof lane>>();
        const since = new Map<string, Set<string>>();
        const fill = (): void => {
          while (running.length < places) {
            const able = [...new Set(waiting.map(({ team }) => team))].filter(mayHave);
            const call = turns.next();
            expect(call === undefined).toBe(able.length === 0);
            if (call === undefined) return;
            expect(able).toContain(call.team);
            expect(call).toBe(waiting.find(({ team }) => team === call.team));
            waiting.splice(waiting.indexOf(call), 1);
            running.push(call);
            lanes.get(call.team)!.inFlight++;
            // Teams that could have had this turn were passed over once, and must not be passed over again.
            since.delete(call.team);
            for (const team of able) {
              if (team === call.team || of(waiting, team) === 0) continue;
              const passed = since.get(team) ?? new Set();
              expect(passed.has(call.team)).toBe(false);
              since.set(team, passed.add(call.team));
            }
          }
        };
        for (const next of steps) {
          if (next.kind === 'pass') nowMs += next.ms;
          else if (next.kind === 'call') {
            lanes.set(next.team, lane(next.team));
            const call = { team: next.team };
            waiting.push(call);
            turns.wait(lanes.get(next.team)!, call);
          } else if (next.kind === 'end' && running.length > 0) {
            const [call] = running.splice(next.which % running.length, 1);
            lanes.get(call!.team)!.inFlight--;
          } else if (next.kind === 'leave' && waiting.length > 0) {
            const [call] = waiting.splice(next.which % waiting.length, 1);
            turns.leave(lanes.get(call!.team)!, call!);
            since.clear();
          }
          fill();
          expect(turns.size).toBe(waiting.length);
        }
      },
    ),
    { numRuns: 500 },
  );
});
