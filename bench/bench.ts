// The bench itself: starts and checks all contestants, then measures them in turn, round after round.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { bodyOf, charactersOf, engineAnswer, NotOffered, post, SAMPLE_TEXT } from './contestants/contestant.ts';
import type { Contestant, Running } from './contestants/contestant.ts';
import type { Measured, Sample } from './figures.ts';
import { Load } from './load/load.ts';
import type { Loaded, LoadTarget } from './load/load.ts';
import { chooseCores, memoryMib, startServer, stolenUs, usageOf } from './machine.ts';
import type { Program } from './machine.ts';

interface BenchPlan {
  readonly contestants: readonly Contestant[];
  readonly load: 'wrk' | 'autocannon';
  readonly rounds: number;
  readonly seconds: number;
  /** V8 compiles a gateway's last functions for about this long. */
  readonly warmSeconds: number;
  readonly latencyRounds: number;
  readonly steadyPerSecond: number;
  readonly connections: number;
  readonly teams: number;
}

/** Contestants whose added latency is measured. */
const TIMED = /^(?:nginx|openresty|lingate-(?:redis|sqlite)(?:-before)?)$/;
/** Above these shares of a core, a round says more about the machine than about the contestant. */
const STOLEN_MAX = 0.03;
const WAITED_MAX = 0.05;
/** Each team must have sent a request before the first round, as its key is looked up then. */
const ROUNDS_OF_TEAMS = 1.2;
const WARM_TIMES_MAX = 10;

/** Awkward ones too: letters of two, three and four bytes, characters that JSON escapes. */
const WORDS = ['Hallo', 'Ünïcödé', '日本語', '🙂 𝒳', 'a "quoted" \\ line\nbreak'];
const CHECKED = 64;

/** A contestant that takes part: running, checked, warm. */
interface Entrant {
  readonly contestant: Contestant;
  readonly running: Running;
  readonly target: LoadTarget;
  readonly rounds: Sample[];
  readonly single: number[];
  readonly steady: number[];
  readonly faults: string[];
  /** Characters of all texts that were answered 200. */
  delivered: number;
  /** Loads, each of which leaves up to one unread answer on each connection. */
  loads: number;
}

interface Outcome {
  readonly measured: Measured[];
  readonly leftOut: { readonly name: string; readonly reason: string }[];
}

export async function runBench(plan: BenchPlan, progress: (line: string) => void): Promise<Outcome> {
  const cores = await chooseCores();
  const folder = mkdtempSync(join(tmpdir(), 'lingate-bench-'));
  // Also after Ctrl-C, which leaves no time for closing.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const engine = await startServer('engine.ts', cores.others, folder, {});
  const load = new Load(cores.others, join(folder, 'load'));
  const entrants: Entrant[] = [];
  const leftOut: Outcome['leftOut'] = [];
  try {
    for (const contestant of plan.contestants) {
      const own = join(folder, contestant.name);
      mkdirSync(own);
      try {
        const running = await contestant.start({ cores, enginePort: engine.port, folder: own, teams: plan.teams });
        const entrant = enter(contestant, running, plan.connections);
        entrants.push(entrant);
        entrant.delivered += await checkAnswers(running);
        await warm(load, entrant, plan);
        progress(`${contestant.name}: answers checked, warm`);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!(error instanceof NotOffered)) throw new Error(`${contestant.name}: ${reason}`, { cause: error });
        leftOut.push({ name: contestant.name, reason });
      }
    }
    for (let round = 1; round <= plan.rounds; round++) {
      for (const entrant of entrants) entrant.rounds.push(await closedRound(load, entrant, plan));
      const seen = entrants.map(({ contestant, rounds }) => `${contestant.name} ${rounds.at(-1)!.cpuUs.toFixed(1)}`);
      progress(`round ${round}/${plan.rounds}, µs of CPU a request: ${seen.join(', ')}`);
    }
    const timed = entrants.filter(({ contestant }) => TIMED.test(contestant.name));
    for (let round = 1; round <= plan.latencyRounds; round++) {
      for (const entrant of timed) await latencyRound(load, entrant, engine, plan);
      progress(`latency round ${round}/${plan.latencyRounds}`);
    }
    const measured: Measured[] = [];
    for (const entrant of entrants) measured.push(await conclude(entrant, plan));
    return { measured, leftOut };
  } finally {
    await Promise.allSettled(entrants.map(({ running }) => running.stop()));
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function enter(contestant: Contestant, running: Running, connections: number): Entrant {
  const { port, path, authorizations, expect } = running;
  const target = { port, path, authorizations, connections, body: bodyOf([SAMPLE_TEXT]), expected: expect([SAMPLE_TEXT]) };
  return { contestant, running, target, rounds: [], single: [], steady: [], faults: [], delivered: 0, loads: 0 };
}

/** Sends different texts concurrently and compares every answer. Returns the characters of those answered 200. */
async function checkAnswers(running: Running): Promise<number> {
  const characters = await Promise.all(
    Array.from({ length: CHECKED }, async (_, index) => {
      const { port, path, authorizations, expect, isConstant = false } = running;
      const texts = isConstant ? [SAMPLE_TEXT] : WORDS.slice(0, 1 + (index % WORDS.length)).map((word) => `${word} ${index}`);
      const answer = await post(port, path, authorizations[index % authorizations.length]!, bodyOf(texts));
      const body = await answer.text();
      const { statuses, body: required } = expect(texts);
      if (!statuses.includes(answer.status) || (required !== undefined && body !== required)) {
        throw new Error(`${texts.join(' | ')} was answered ${answer.status} ${body.slice(0, 300)}`);
      }
      return answer.status === 200 ? charactersOf(texts) : 0;
    }),
  );
  await running.checkRefusals?.();
  return characters.reduce((sum, count) => sum + count, 0);
}

async function warm(load: Load, entrant: Entrant, { warmSeconds }: BenchPlan): Promise<void> {
  const required = entrant.running.authorizations.length * ROUNDS_OF_TEAMS;
  let answers = 0;
  for (let times = 0; times === 0 || (answers < required && times < WARM_TIMES_MAX); times++) {
    answers += note(entrant, await load.wrk(entrant.target, warmSeconds)).answers;
  }
}

async function closedRound(load: Load, entrant: Entrant, { seconds, load: by }: BenchPlan): Promise<Sample> {
  const { running, target } = entrant;
  const redisCpuUs = (): number | undefined => (running.redis === undefined ? undefined : usageOf(running.redis.pid).cpuUs);
  const [gateway, redis, stolen, startedMs] = [usageOf(running.pid), redisCpuUs(), stolenUs(), performance.now()];
  const loaded = note(entrant, by === 'wrk' ? await load.wrk(target, seconds) : await load.autocannon(target, seconds));
  const [gatewayAfter, redisAfter] = [usageOf(running.pid), redisCpuUs()];
  const elapsedUs = (performance.now() - startedMs) * 1000;
  const stolenShare = (stolenUs() - stolen) / elapsedUs;
  const { answers, elapsedMs, p50Ms, p99Ms } = loaded;
  return {
    cpuUs: (gatewayAfter.cpuUs - gateway.cpuUs) / answers,
    redisUs: redis === undefined ? undefined : (redisAfter! - redis) / answers,
    perSecond: (answers * 1000) / elapsedMs,
    p50Ms,
    p99Ms,
    isDisturbed: stolenShare > STOLEN_MAX || (gatewayAfter.waitedUs - gateway.waitedUs) / elapsedUs > WAITED_MAX,
  };
}

/** What it adds to calling the engine directly: with one request at a time, and at a steady rate. */
async function latencyRound(load: Load, entrant: Entrant, engine: Program, plan: BenchPlan): Promise<void> {
  const { target } = entrant;
  const direct = { ...target, port: engine.port, path: '/translate', authorizations: [''], expected: engineAnswer([SAMPLE_TEXT]) };
  const single = (to: LoadTarget): Promise<Loaded> => load.wrk({ ...to, connections: 1 }, plan.seconds);
  const steady = (to: LoadTarget): Promise<Loaded> => load.open(to, plan.seconds, plan.steadyPerSecond);
  entrant.single.push(note(entrant, await single(target)).p50Ms - (await single(direct)).p50Ms);
  entrant.steady.push(note(entrant, await steady(target)).p50Ms - (await steady(direct)).p50Ms);
}

/** Every right answer was delivered. */
function note(entrant: Entrant, loaded: Loaded): Loaded {
  entrant.delivered += loaded.answers * charactersOf([SAMPLE_TEXT]);
  entrant.loads++;
  if (loaded.faults > 0) entrant.faults.push(`${loaded.faults} wrong answers: ${loaded.fault}`);
  return loaded;
}

/** Peak memory, and its accounts compared with what was delivered. */
async function conclude(entrant: Entrant, { connections }: BenchPlan): Promise<Measured> {
  const { contestant, running, rounds, single, steady, faults, delivered, loads } = entrant;
  const charged = await running.charged?.();
  // wrk leaves without the answers that are on their way.
  const unread = loads * connections * charactersOf([SAMPLE_TEXT]);
  if (charged !== undefined && (charged < delivered || charged > delivered + unread)) {
    faults.push(`its teams were charged ${charged} characters, and ${delivered} to ${delivered + unread} were delivered`);
  }
  const { name, does } = contestant;
  return { name, does, rounds, single, steady, faults, memoryMib: memoryMib(running.pid, 'VmHWM') };
}
