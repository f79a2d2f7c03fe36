// The usual Node stack: Fastify with bearer-auth, rate-limit on Redis and http-proxy, with its log enabled.
import bearerAuth from '@fastify/bearer-auth';
import httpProxy from '@fastify/http-proxy';
import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { Redis } from 'ioredis';
import { benchKeys } from '../contestants/contestant.ts';
import { numberArgument } from './common.ts';

const CONNECTIONS_MAX = 64;

/** A map instead of the plugin's list of keys, which is searched linearly. */
const keys = new Set(benchKeys(numberArgument('keys')));
const app = fastify({ logger: true, keepAliveTimeout: 0 });
await app.register(bearerAuth, { keys: new Set<string>(), auth: (key: string) => keys.has(key) });
await app.register(rateLimit, {
  max: numberArgument('limit'),
  timeWindow: 1000,
  redis: new Redis({ port: numberArgument('redis'), host: '127.0.0.1' }),
  keyGenerator: (request) => request.headers.authorization ?? '',
});
await app.register(httpProxy, {
  upstream: `http://127.0.0.1:${numberArgument('engine')}`,
  prefix: '/v1/translate',
  rewritePrefix: '/translate',
  httpMethods: ['POST'],
  undici: { connections: CONNECTIONS_MAX, pipelining: 1 },
});
await app.listen({ port: numberArgument('port'), host: '127.0.0.1' });
