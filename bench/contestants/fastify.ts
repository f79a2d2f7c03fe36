// Fastify with bearer-auth, rate-limit on Redis and http-proxy: what a Node team would build in an afternoon.
import { startServer } from '../machine.ts';
import { bearer, benchKeys, engineAnswer, expectLimit, expectStatus, TRANSLATE_PATH } from './contestant.ts';
import type { Contestant } from './contestant.ts';
import { startRedis } from './redis.ts';

/** Never reached under load; the limit is tested on a second process with a low one. */
const LIMIT_PER_SECOND = 100_000;

export const fastify: Contestant = {
  name: 'fastify',
  does: 'bearer-auth, fixed window on Redis, http-proxy, pino log',
  async start(ground) {
    const { cores, folder, enginePort, teams } = ground;
    const redis = await startRedis(ground);
    const numbers = { engine: enginePort, redis: redis.port, keys: teams };
    const program = await startServer('fastify.ts', cores.gateway, folder, { ...numbers, limit: LIMIT_PER_SECOND });
    const authorizations = benchKeys(teams).map(bearer);
    return {
      port: program.port,
      path: TRANSLATE_PATH,
      pid: program.pid,
      redis,
      authorizations,
      expect: engineAnswer,
      async checkRefusals() {
        await expectStatus(program.port, 'Bearer nobody', 401, 'an unknown key');
        const strict = await startServer('fastify.ts', cores.gateway, folder, { ...numbers, limit: 1 });
        try {
          await expectLimit(strict.port, authorizations[0]!);
        } finally {
          await strict.stop();
        }
      },
      async stop() {
        await program.stop();
        await redis.stop();
      },
    };
  },
};
