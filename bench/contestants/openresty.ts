// nginx with Lua, similar to Kong and APISIX: key cache, JSON, one Redis script with a fixed window and a quota.
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import type { Program } from '../machine.ts';
import { bearer, benchKeys, engineAnswer, expectLimit, expectStatus, TRANSLATE_PATH } from './contestant.ts';
import type { Contestant, Ground, Running } from './contestant.ts';
import { startNginx } from './nginx.ts';
import { startRedis } from './redis.ts';

const LUA_FOLDER = fileURLToPath(new URL('.', import.meta.url));
const STRICT_KEY = `la_live_${'s'.repeat(40)}`;
const MODULES = ['ndk_http_module', 'ngx_http_lua_module'].map((name) => `load_module /usr/lib/nginx/modules/${name}.so;`);

export const openresty: Contestant = {
  name: 'openresty',
  does: 'nginx and Lua: key cache, JSON, fixed window and quota in one Redis script, access log',
  start,
};

async function start(ground: Ground): Promise<Running> {
  const redis = await startRedis(ground);
  const keys = benchKeys(ground.teams);
  await writeKeys(redis.port, keys);
  const program = await startGateway(ground, redis.port);
  return {
    port: program.port,
    path: TRANSLATE_PATH,
    pid: program.pid,
    redis,
    authorizations: keys.map(bearer),
    expect: engineAnswer,
    async checkRefusals() {
      await expectStatus(program.port, 'Bearer nobody', 401, 'a malformed key');
      await expectStatus(program.port, bearer(`la_live_${'x'.repeat(40)}`), 401, 'an unknown key');
      await expectLimit(program.port, bearer(STRICT_KEY));
    },
    async stop() {
      await program.stop();
      await redis.stop();
    },
  };
}

function startGateway(ground: Ground, redisPort: number): Promise<Program> {
  return startNginx(ground, {
    name: 'openresty',
    main: MODULES.join('\n'),
    http: `lua_package_path "${LUA_FOLDER}?.lua;;";\n  init_by_lua_block { gateway = require "openresty" }`,
    location: `access_by_lua_block { gateway.access(${redisPort}) }`,
  });
}

async function writeKeys(port: number, keys: readonly string[]): Promise<void> {
  const redis = new Redis({ port, host: '127.0.0.1' });
  const team = (id: string, rate: number) => JSON.stringify({ id, rate, quota: 1_000_000_000_000 });
  const records = keys.flatMap((key, index) => [`key:${key}`, team(`team${index}`, 100_000)]);
  await redis.mset(...records, `key:${STRICT_KEY}`, team('strict', 1));
  redis.disconnect();
}
