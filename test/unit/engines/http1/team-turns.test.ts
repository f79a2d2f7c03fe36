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
const teamsOf = ({ held }: Scene): string => held.map(({ team }) => team).join('');

/** Answers the oldest held call, or that of a team, and waits until the engine holds `left` calls. */
async function answerOne(made: Scene, left: number, team?: string): Promise<void> {
  const at = team === undefined ? 0 : made.held.findIndex((call) => call.team === team);
  made.held.splice(at, 1)[0]!.answer();
  await rested();
  await made.engine.until(() => made.held.length === left);
}

describe('at one replica', () => {
  test('a single team may use every connection', async () => {
    const made = await scene({ connectionsMax: 4 });
    calls(made, 'a', 6);
    await made.engine.until(() => made.held.length === 4);
    for (let i = 0; i < 2; i++) await answerOne(made, 4);
    expect(teamsOf(made)).toBe('aaaa');
  });

  test('calls without a team do not limit a single team to its share', () => {
    const turns = new TeamTurns<object>(64, 0.5, () => 0);
    const lane = turns.called('a');
    turns.called('');
    lane.inFlight = 40;
    expect(turns.admits(turns.called('a'))).toBe(true);
    turns.called('b');
    expect(turns.admits(turns.called('a'))).toBe(false);
  });

  test('waiting teams take turns, whatever arrived first', async () => {
    const made = await scene({ connectionsMax: 1 });
    for (const [team, count] of Object.entries({ a: 6, b: 2, c: 1 })) calls(made, team, count);
    await made.engine.until(() => made.held.length === 1);
    let order = '';
    for (let i = 0; i < 8; i++) {
      order += made.held[0]!.team;
      await answerOne(made, 1);
    }
    expect(order + teamsOf(made)).toBe('aabcabaaa');
  });

  test('a team gets no more than its share while another is active, and the other finds a free connection', async () => {
    const made = await scene({ connectionsMax: 4 });
    calls(made, 'a', 20);
    await made.engine.until(() => made.held.length === 4);
    calls(made, 'b', 1);
    const steps: string[] = [];
    const answer = async (team: string, left: number): Promise<void> => {
      await answerOne(made, left, team);
      steps.push(teamsOf(made).split('').toSorted().join(''));
    };
    await answer('a', 4);
    await answer('a', 3);
    await answer('a', 3);
    await answer('b', 2);
    expect(steps).toEqual(['aaab', 'aab', 'aab', 'aa']);
    calls(made, 'b', 1);
    await made.engine.until(() => made.held.length === 3);
    made.nowMs = 9_999;
    await answer('b', 2);
    await answer('a', 2);
    // Ten seconds after its last call the other is no longer active.
    made.nowMs = 10_000;
    await answer('a', 4);
    expect(steps.slice(4)).toEqual(['aa', 'aa', 'aaaa']);
  });

  test('a team’s own calls are in order of arrival', async () => {
    const made = await scene({ connectionsMax: 1 });
    const settled: string[] = [];
    for (const body of ['1', '2', '3', '4']) {
      const { result } = make(made.wire, { body }, 'reused', { teamId: 'a' });
      void result.then((text) => settled.push(text));
    }
    await made.engine.until(() => made.held.length === 1);
    for (const left of [1, 1, 1, 0]) await answerOne(made, left);
    await rested();
    expect(settled).toEqual(['200 1', '200 2', '200 3', '200 4']);
  });

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

  test('a share of 1 is no limit, and a tiny share is one connection', async () => {
    for (const [teamShare, held] of [
      [1, 3],
      [0.01, 2],
    ] as const) {
      const made = await scene({ connectionsMax: 3, teamShare });
      calls(made, 'b', 1);
      calls(made, 'a', 5);
      await made.engine.until(() => made.held.length === held);
      await rested();
      expect(teamsOf(made)).toBe(`b${'a'.repeat(held - 1)}`);
    }
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
