// All contestants, in the order in which they are measured and shown.
import type { Contestant } from './contestant.ts';
import { fastify } from './fastify.ts';
import { haproxy } from './haproxy.ts';
import { httpProxy3 } from './http-proxy-3.ts';
import { lingate } from './lingate.ts';
import { nginx } from './nginx.ts';
import { olderUws } from './older-uws.ts';
import { openresty } from './openresty.ts';
import { uwsFloor, uwsFloorOlder } from './uws-floor.ts';
import { uwsRaw } from './uws-raw.ts';
import { uwsUndici } from './uws-undici.ts';

/** What all others are compared with. */
export const YARDSTICK = nginx.name;

const BATCH = { batch: { texts_max: 50, wait_ms: 0 } };

export const contestants: readonly Contestant[] = [
  lingate({ name: 'lingate-redis', does: 'all of it, on Redis, access log', store: 'redis' }),
  lingate({ name: 'lingate-redis-batch', does: 'the same, engine work in batches', store: 'redis', engine: BATCH }),
  lingate({ name: 'lingate-sqlite', does: 'all of it, on SQLite with durable commits, access log', store: 'sqlite' }),
  lingate({ name: 'lingate-redis-429', does: 'refusing one flooding team, access log', store: 'redis', flooded: true }),
  nginx,
  haproxy,
  openresty('openresty'),
  uwsFloor,
  uwsRaw,
  uwsUndici,
  httpProxy3,
  fastify,
  lingate({ name: 'lingate-redis-1k', does: 'all of it, on Redis, 1,000 teams in turn', store: 'redis', teams: 1000 }),
  openresty('openresty-1k', 1000),
  lingate({ name: 'lingate-sqlite-1k', does: 'all of it, on SQLite, 1,000 teams in turn', store: 'sqlite', teams: 1000 }),
  lingate({ name: 'lingate-redis-2-workers', does: 'two workers on the one core', store: 'redis', workers: 2 }),
  lingate({ name: 'lingate-redis-2-masters', does: 'two Redis masters on the other core', store: 'redis', redisMasters: 2 }),
  lingate({ name: 'lingate-redis-100k', does: 'all of it, on Redis, 100,000 teams in turn', store: 'redis', teams: 100_000 }),
];

/** That nobody reaches. */
const WINDOWS = {
  limits: [
    { per: 'minute', requests: 100_000_000 },
    { per: 'day', characters: 100_000_000_000 },
  ],
} as const;

const FACADES = {
  plugins: [
    ...['deepl-v2', 'libretranslate', 'google-v2'].map((name) => ({ module: `lingate/plugins/${name}` })),
    { module: 'lingate/plugins/azure-v3', options: { root: false } },
  ],
};

const SHARES_OF_NEW: Readonly<Record<string, number>> = { '': 0, '-half': 0.5, '-new': 1 };
/** More than the process has room for when Redis is the cache. */
const SHARED_TEXTS = 20_000;

/** With the cache in the process, or in a separate Redis and next to nothing in the process. */
function remembering(name: string, shared: boolean): Contestant[] {
  return Object.entries(SHARES_OF_NEW).map(([suffix, newShare]) => {
    const where = shared ? 'in Redis' : 'in the process';
    const does = `all of it, on Redis, memory ${where}, ${newShare * 100} % of the texts are new`;
    return lingate({
      name: `${name}${suffix}`,
      does,
      store: 'redis',
      memory: { shared, variety: { known: shared ? SHARED_TEXTS : 1, newShare } },
    });
  });
}

/** Those that run only with `--only`. */
export const furtherContestants: readonly Contestant[] = [
  lingate({ name: 'lingate-redis-facades', does: 'all of it, on Redis, all facades loaded', store: 'redis', config: FACADES }),
  lingate({ name: 'lingate-sqlite-facades', does: 'all of it, on SQLite, all facades loaded', store: 'sqlite', config: FACADES }),
  lingate({ name: 'lingate-redis-windows', does: 'all of it, on Redis, two limits by minute and day', store: 'redis', plan: WINDOWS }),
  lingate({ name: 'lingate-sqlite-windows', does: 'all of it, on SQLite, two limits by minute and day', store: 'sqlite', plan: WINDOWS }),
  lingate({ name: 'lingate-redis-before', does: 'another checkout, on Redis, access log', store: 'redis', before: true }),
  lingate({ name: 'lingate-sqlite-before', does: 'another checkout, on SQLite, access log', store: 'sqlite', before: true }),
  lingate({ name: 'lingate-redis-older', does: 'on the older build of uWebSockets.js, Redis, access log', store: 'redis', env: olderUws }),
  uwsFloorOlder,
  ...remembering('lingate-redis-memory', false),
  ...remembering('lingate-redis-memory-shared', true),
  lingate({ name: 'lingate-redis-http', does: 'on node:http, Redis, access log', store: 'redis', config: { listener: 'node' } }),
  lingate({ name: 'lingate-redis-24', does: 'on Node 24 with listener: auto, Redis, access log', store: 'redis', node: '24' }),
  lingate({ name: 'lingate-redis-26', does: 'on Node 26 with listener: auto, Redis, access log', store: 'redis', node: '26' }),
  lingate({ name: 'lingate-sqlite-forward', does: 'a charged forward route on SQLite, access log', store: 'sqlite', forwards: true }),
  lingate({ name: 'lingate-redis-forward', does: 'a charged forward route on Redis, access log', store: 'redis', forwards: true }),
];
