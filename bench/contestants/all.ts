// All contestants, in the order in which they are measured and shown.
import { fastify } from './fastify.ts';
import { haproxy } from './haproxy.ts';
import { httpProxy3 } from './http-proxy-3.ts';
import { lingate } from './lingate.ts';
import { nginx } from './nginx.ts';
import { openresty } from './openresty.ts';
import { uwsFloor, uwsRaw, uwsUndici } from './uws.ts';

const BATCH = { batch: { texts_max: 50, wait_ms: 0 } };

export const contestants = [
  lingate({ name: 'lingate-redis', does: 'all of it, on Redis, access log', store: 'redis' }),
  lingate({ name: 'lingate-redis-batch', does: 'the same, engine work in batches', store: 'redis', engine: BATCH }),
  lingate({ name: 'lingate-sqlite', does: 'all of it, on SQLite with durable commits, access log', store: 'sqlite' }),
  lingate({ name: 'lingate-redis-429', does: 'refusing one flooding team, access log', store: 'redis', isFlooded: true }),
  nginx,
  haproxy,
  openresty,
  uwsFloor,
  uwsRaw,
  uwsUndici,
  httpProxy3,
  fastify,
] as const;

/** Those that take part if `--only` names them. */
export const furtherContestants = [
  lingate({ name: 'lingate-redis-http', does: 'on node:http, Redis, access log', store: 'redis', config: { listener: 'node' } }),
  lingate({ name: 'lingate-redis-forward', does: 'a charged forward route on Redis, access log', store: 'redis', isForwarding: true }),
  lingate({ name: 'lingate-redis-before', does: 'the checkout that --before names, on Redis', store: 'redis', isBefore: true }),
  lingate({ name: 'lingate-sqlite-before', does: 'the checkout that --before names, on SQLite', store: 'sqlite', isBefore: true }),
] as const;
