// The curves: which parameter varies, for which contestants, and the expected shape.
import { contestants } from '../contestants/all.ts';
import type { Contestant, Running } from '../contestants/contestant.ts';
import { lingate } from '../contestants/lingate.ts';
import { startServer } from '../contestants/program.ts';
import { bodyOf, SAMPLE_TEXT } from '../contestants/sample.ts';
import type { LoadTarget } from '../load/load-job.ts';
import { sampleTarget } from '../run/measure.ts';
import type { CurvePlan, PointPlan } from './curve-plan.ts';

const CONNECTIONS = 64;
/** Enough that work continues while most requests wait. */
const MANY_CONNECTIONS = 512;

const [redis, sqlite, nginx] = ['lingate-redis', 'lingate-sqlite', 'nginx'].map(byName) as [Contestant, Contestant, Contestant];
const everyone = [redis, sqlite, nginx];

export const curvePlans: readonly CurvePlan[] = [
  plan(
    'texts',
    'Texts per request',
    'texts',
    false,
    'Grows with the text that is parsed, checked and written; the cost per text falls.',
    [1, 5, 10, 20, 35, 50],
    everyone,
    (texts) => ({
      target: (running) =>
        textsTarget(
          running,
          Array.from({ length: texts }, () => SAMPLE_TEXT),
        ),
    }),
  ),
  plan(
    'body',
    'Body size',
    'bytes',
    true,
    'Flat until bytes outweigh the rest; then copying, UTF-8 and JSON grow with them.',
    [64, 1024, 8192, 65_536, 262_144],
    everyone,
    (bytes) => ({
      target: (running) => textsTarget(running, ['x'.repeat(Math.max(1, bytes - bodyOf(['']).length))]),
    }),
  ),
  plan(
    'teams',
    'Teams',
    'teams',
    true,
    'Should be nearly flat: more teams mean fewer requests of the same team per call, and more distant rows.',
    [1, 10, 100, 1000, 10_000, 100_000],
    [redis, sqlite],
    (teams, { name }) => ({
      contestant: lingate({ name, does: '', store: name === redis.name ? 'redis' : 'sqlite' }),
      ground: { teams },
    }),
  ),
  plan(
    'connections',
    'Connections, and with them requests per call',
    'connections',
    true,
    'Falls: the more requests are in flight, the more share a call of Redis or a transaction of SQLite.',
    [1, 4, 16, 64, 256],
    everyone,
    (connections) => ({ target: (running) => sampleTarget(running, connections) }),
  ),
  plan(
    'keys',
    'Share of keys that the cache holds',
    '%',
    false,
    'A key that is not in the cache costs an additional look-up in the store.',
    [0, 50, 100],
    [redis],
    (percent) => ({
      contestant: lingate({
        name: 'lingate-redis',
        does: '',
        store: 'redis',
        config: { auth: { key_cache_max: Math.max(1, percent * 10) } },
      }),
      ground: { teams: 1000 },
    }),
  ),
  plan(
    'idle',
    'Idle connections',
    'connections',
    true,
    'Should be flat: silent connections cost nothing.',
    [10, 100, 1000, 10_000],
    [redis],
    (idle) => ({
      contestant: lingate({ name: 'lingate-redis', does: '', store: 'redis' }),
      idle,
    }),
  ),
  plan(
    'engine',
    'Engine latency',
    'ms',
    false,
    `At ${MANY_CONNECTIONS} connections. Should be flat; a slow engine means fewer requests, so fewer share a turn of the loop.`,
    [0, 1, 10, 100, 500],
    [redis],
    (delayMs) => ({
      contestant: lingate({ name: 'lingate-redis', does: '', store: 'redis', engine: { connections_max: MANY_CONNECTIONS } }),
      engineDelayMs: delayMs,
      target: (running) => sampleTarget(running, MANY_CONNECTIONS),
    }),
  ),
  plan(
    'redis',
    'Redis round trip',
    'ms',
    false,
    `At ${MANY_CONNECTIONS} connections, through a proxy that delays answers. Should be flat: waiting costs no CPU.`,
    [0, 1, 2, 5],
    [redis],
    (delayMs) => ({
      contestant: lingate({
        name: 'lingate-redis',
        does: '',
        store: 'redis',
        engine: { connections_max: MANY_CONNECTIONS },
        beforeRedis: (target, { cores, folder }) => startServer('delay-proxy.ts', cores.others, folder, { target, delay: delayMs }),
      }),
      target: (running) => sampleTarget(running, MANY_CONNECTIONS),
    }),
  ),
];

type Turn = (x: number, contestant: Contestant) => Partial<PointPlan>;

function plan(
  name: string,
  title: string,
  axis: string,
  logarithmic: boolean,
  note: string,
  xs: readonly number[],
  who: readonly Contestant[],
  turn: Turn,
): CurvePlan {
  const target = (running: Running): LoadTarget => sampleTarget(running, CONNECTIONS);
  const lines = who.map((contestant) => ({
    contestant: contestant.name,
    points: xs.map((x) => ({ x, contestant, target, ...turn(x, contestant) })),
  }));
  return { name, title, axis, logarithmic, note, lines };
}

function textsTarget(running: Running, texts: readonly string[]): LoadTarget {
  return { ...sampleTarget(running, CONNECTIONS), body: bodyOf(texts), expected: running.expect(texts) };
}

function byName(name: string): Contestant {
  return contestants.find((contestant) => contestant.name === name)!;
}
