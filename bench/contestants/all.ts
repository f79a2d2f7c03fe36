// Everybody who takes part, in the order in which they are measured and shown.
import { fileURLToPath } from 'node:url';
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

const FACADES = {
  plugins: [
    ...['deepl-v2', 'libretranslate', 'google-v2'].map((name) => ({ module: `lingate/plugins/${name}` })),
    { module: 'lingate/plugins/azure-v3', options: { root: false } },
  ],
};

const DISTINCT = fileURLToPath(new URL('../../test/support/plugins/distinct-texts.ts', import.meta.url));
const REMEMBERED: Readonly<Record<string, number>> = {
  'lingate-redis-memory': 0,
  'lingate-redis-memory-half': 0.5,
  'lingate-redis-memory-new': 1,
};

/** With the memory in the process, and a share of texts that it does not know. */
function remembering(name: string, share: number): Contestant {
  const distinct = share === 0 ? [] : [{ module: DISTINCT, options: { share } }];
  const does = `all of it, on Redis, ${share * 100} % of the texts unknown to the memory`;
  return lingate({ name, does, store: 'redis', config: { plugins: [...distinct, { module: 'lingate/plugins/memory' }] } });
}

/** Those that only `--only` calls up. */
export const furtherContestants: readonly Contestant[] = [
  lingate({ name: 'lingate-redis-facades', does: 'all of it, on Redis, all facades loaded', store: 'redis', config: FACADES }),
  lingate({ name: 'lingate-sqlite-facades', does: 'all of it, on SQLite, all facades loaded', store: 'sqlite', config: FACADES }),
  lingate({ name: 'lingate-redis-older', does: 'on the older build of uWebSockets.js, Redis, access log', store: 'redis', env: olderUws }),
  uwsFloorOlder,
  ...Object.entries(REMEMBERED).map(([name, share]) => remembering(name, share)),
  lingate({ name: 'lingate-redis-http', does: 'on node:http, Redis, access log', store: 'redis', config: { listener: 'node' } }),
  lingate({ name: 'lingate-redis-24', does: 'on Node 24 and what listener: auto is there, Redis, access log', store: 'redis', node: '24' }),
  lingate({ name: 'lingate-redis-26', does: 'on Node 26 and what listener: auto is there, Redis, access log', store: 'redis', node: '26' }),
  lingate({ name: 'lingate-sqlite-forward', does: 'a charged forward route on SQLite, access log', store: 'sqlite', forwards: true }),
  lingate({ name: 'lingate-redis-forward', does: 'a charged forward route on Redis, access log', store: 'redis', forwards: true }),
];
