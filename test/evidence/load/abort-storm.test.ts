// Row 19: callers who reset their connection at any stage of a request: the process lives, every reservation is final, no failure is charged.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHARACTERS_MIN, Callers } from '../faults/caller.ts';
import { startFleet } from '../faults/fleet.ts';
import type { Target } from '../faults/caller.ts';
import { startDurableRedis } from '../faults/durable-redis.ts';
import { marked, startMarkedEngine } from '../faults/marked-engine.ts';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, sized } from '../scorecard/size.ts';
import { seeded } from '../faults/seeded.ts';
import type { Seeded } from '../faults/seeded.ts';
import { expectGuarantees, openWitness, untilQuiet, watchedTeam } from '../faults/witness.ts';
import type { WatchedTeam } from '../faults/witness.ts';
import type { Seen } from '../../support/auditor/witnessed.ts';
import { closedLoop, times } from '../faults/pace.ts';
import { ROOMY_PLAN } from './loaded-gateway.ts';

const STAGES = ['connected', 'half_head', 'head', 'half_body', 'whole', 'engine', 'half_answer'] as const;
type Stage = (typeof STAGES)[number];

const PARALLEL = 48;
const ENGINE_MS = 12;
const WAIT_MS_MAX = 60_000;

interface Abort {
  readonly team: WatchedTeam;
  readonly characters: number;
  readonly stage: Stage;
}

/** Sends as much of a request as belongs to the stage, and resets the connection there. */
async function abortAt(target: Target, { team, characters, stage }: Abort, random: Seeded): Promise<void> {
  const mark = marked(random.between(0, ENGINE_MS), 'ok');
  const body = JSON.stringify({ text: [mark + 'x'.repeat(characters - mark.length)], target_lang: 'DE' });
  const head = `POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${team.key}\r\nContent-Length: ${body.length}\r\n\r\n`;
  const whole = head + body;
  const cut: Record<Stage, number> = {
    connected: 0,
    half_head: random.between(1, head.length - 1),
    head: head.length,
    half_body: head.length + random.between(1, body.length - 1),
    whole: whole.length,
    engine: whole.length,
    half_answer: whole.length,
  };
  const socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  await new Promise<void>((resolve) => (cut[stage] === 0 ? resolve() : socket.write(whole.slice(0, cut[stage]), () => resolve())));
  if (stage === 'engine') await delay(random.between(0, ENGINE_MS));
  if (stage === 'half_answer') {
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed, delay(WAIT_MS_MAX, undefined, { ref: false })]);
  }
  socket.resetAndDestroy();
}

describe.each(['redis', 'sqlite'] as const)('a storm of aborts on %s', (kind) => {
  test('ends no process, leaves no reservation open, and charges exactly what was delivered', { timeout: RUN_MS_MAX }, async () => {
    const random = seeded();
    const folder = await mkdtemp(join(tmpdir(), 'lingate-storm-'));
    const redis = kind === 'redis' ? await startDurableRedis() : undefined;
    const url = redis?.url ?? `sqlite:${folder}/lingate.db`;
    const engine = await startMarkedEngine();
    const store = await openWitness(url);
    const fleet = await startFleet({ store: url, engineUrl: engine.url, size: 1, storeMs: 10_000, engineMs: 20_000 });
    const callers = new Callers();
    try {
      const count = sized(500, 10_000, 100_000);
      const plan = { ...ROOMY_PLAN, max_characters_per_request: 100_000 };
      const teams = await Promise.all(Array.from({ length: 10 }, () => watchedTeam(store, plan)));
      const lengths = new Map(teams.map((team) => [team, CHARACTERS_MIN]));
      const [target] = fleet.living();
      const aborted: Seen[] = [];
      const stages = new Map<Stage, number>(STAGES.map((stage) => [stage, 0]));
      await closedLoop(times(count), PARALLEL, async () => {
        const team = random.oneOf(teams);
        const characters = lengths.get(team)!;
        lengths.set(team, characters + 1);
        if (random.chance(0.2)) {
          await callers.translate(target!, team, { characters, marks: [random.between(0, ENGINE_MS), 'ok'] });
          return;
        }
        const stage = random.oneOf(STAGES);
        stages.set(stage, stages.get(stage)! + 1);
        const startedAtMs = Date.now();
        await abortAt(target!, { team, characters, stage }, random);
        const { teamId, keyId } = team;
        const seen = { teamId, keyId, characters, via: target!.via, startedAtMs, endedAtMs: Date.now(), afterRevocation: false };
        aborted.push({ ...seen, result: { kind: 'unknown' } });
      });
      await untilQuiet(store, teams, WAIT_MS_MAX);
      // It lives, and serves.
      await callers.translate(target!, teams[0]!, { characters: lengths.get(teams[0]!)!, marks: ['ok', 'ok'] });
      await untilQuiet(store, teams, WAIT_MS_MAX);
      const logged = await fleet.stop();
      const figures = await expectGuarantees({ store, teams, seen: [...callers.seen, ...aborted], logged });
      expect(fleet.logged('"a bug"')).toEqual([]);
      // A machine that keeps SQLite's writer waiting adds refusals; nothing else may fail.
      const failures = callers.seen.flatMap(({ result }) => (result.kind === 'fail' ? [result.code] : []));
      expect(failures.filter((code) => code !== 'service_unavailable')).toEqual([]);
      expect(Math.min(...stages.values())).toBeGreaterThan(count / 40);
      report({
        row: 19,
        figure: `abort storm on ${kind}`,
        measured: `${figures.unknown} resets at ${STAGES.length} stages among ${count + 1} requests: 0 crashes, ${figures.ok} answered, 0 reservations left; every guarantee holds`,
        counts: { requestsChecked: callers.seen.length + aborted.length, faults: aborted.length },
      });
    } finally {
      callers.close();
      // Once more, in case it was not reached: nothing is left running.
      await fleet.stop().catch(() => undefined);
      await store.close();
      await engine.close();
      await redis?.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
