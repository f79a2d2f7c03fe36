// A master that was restarted, with data or without, is told the revocations of the last hour before any admission reaches it.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../../src/ports/ledger.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { startRedis } from '../../../support/redis.ts';
import type { RedisServer } from '../../../support/redis.ts';
import { redisOfFile, emptyRedis } from '../../../support/redis-of-file.ts';
import { KEY, QUOTA, TEAM, asking, furnish, memoryLog } from './fixture.ts';

const { plainClient } = redisOfFile();
const redis = emptyRedis();

let folder: string;
let server: RedisServer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-masters-'));
  server = await startRedis(['--dir', folder]);
});

afterEach(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What is written from here on is lost when it dies. */
async function snapshot(): Promise<void> {
  await plainClient(server.port).save();
}

async function diesAndComesBack(): Promise<void> {
  server.process.kill('SIGKILL');
  await once(server.process, 'exit');
  server = await startRedis(['--dir', folder, '--port', String(server.port)]);
}

/** Asks until it is answered; every answer but the last is `unavailable`. */
async function firstAnswer(store: PluginStore, of: Partial<AdmissionRequest> = {}): Promise<string> {
  for (let i = 0; ; i++) {
    const { kind } = await store.ledger.admit(asking(`again${i}`, of));
    if (kind !== 'unavailable') return kind;
  }
}

describe('a server that comes back with what it had before', () => {
  test.each(['made', 'met'] as const)('a revocation that was %s holds from the first admission on', async (how) => {
    const restored: number[] = [];
    const log = memoryLog();
    const store = await redis.open({ url: server.url, log, onRestored: (count) => restored.push(count) });
    await furnish(store);
    await snapshot();
    expect(await store.ledger.admit(asking('r1'))).toMatchObject({ kind: 'admitted' });
    if (how === 'made') await store.teams.revokeKey(KEY);
    else {
      const other = await redis.open({ url: server.url });
      await other.teams.revokeKey(KEY);
      await other.close();
      expect(await store.ledger.admit(asking('r2'))).toEqual({ kind: 'key_revoked' });
    }
    await diesAndComesBack();
    expect(await firstAnswer(store)).toBe('key_revoked');
    expect(restored).toEqual([1]);
    expect(log.lines.at(-1)).toContain('revocations of the last hour were applied again');
  });

  test('a revocation that nobody here has met is lost', async () => {
    const store = await redis.open({ url: server.url });
    await furnish(store);
    await snapshot();
    const other = await redis.open({ url: server.url });
    await other.teams.revokeKey(KEY);
    await other.close();
    await diesAndComesBack();
    expect(await firstAnswer(store)).toBe('admitted');
  });
});

describe('a connection that was lost', () => {
  test('to a server that is the same as before: nothing is applied again', async () => {
    const restored: number[] = [];
    const store = await redis.open({ onRestored: (count) => restored.push(count) });
    await furnish(store);
    await store.teams.revokeKey(KEY);
    await redis.client.config('RESETSTAT');
    await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    expect(await firstAnswer(store)).toBe('key_revoked');
    expect(restored).toEqual([]);
  });

  test('to a server whose record of a team is broken: all other teams are served', async () => {
    const store = await redis.open({ url: server.url });
    await furnish(store);
    await furnish(store, QUOTA, 0, '01JTEAM0000000000000000001', '01JKEY00000000000000000001');
    await store.teams.revokeKey(KEY);
    await plainClient(server.port).set(teamKeys(TEAM).keys, 'not a hash');
    await snapshot();
    await diesAndComesBack();
    expect(await firstAnswer(store, { teamId: '01JTEAM0000000000000000001', keyId: '01JKEY00000000000000000001' })).toBe('admitted');
  });
});
