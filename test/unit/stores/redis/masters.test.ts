// A restarted master, with data or without, gets the revocations of the last hour before any admission.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_THRESHOLDS } from '../../../../src/domain/event-rules.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
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

/** Everything written after this is lost when the server dies. */
async function snapshot(): Promise<void> {
  await plainClient(server.port).save();
}

async function diesAndComesBack(): Promise<void> {
  server.process.kill('SIGKILL');
  await once(server.process, 'exit');
  server = await startRedis(['--dir', folder, '--port', String(server.port)]);
}

/** Repeats an admission until it is answered; every earlier answer must be `unavailable`. */
async function firstAnswer(store: PluginStore, of: Partial<AdmissionRequest> = {}): Promise<string> {
  for (let i = 0; ; i++) {
    const { kind } = await store.ledger.admit(asking(`again${i}`, of));
    if (kind !== 'unavailable') return kind;
  }
}

describe('a server that comes back with an old snapshot', () => {
  test.each(['made', 'met'] as const)(
    'applies a revocation that was %s here from the first admission on, and keeps its event',
    async (how) => {
      const restored: number[] = [];
      const log = memoryLog();
      const store = await redis.open({ url: server.url, log, events: NO_THRESHOLDS, onRestored: (count) => restored.push(count) });
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
      expect(answered(await store.outbox.due(100)).map(({ id }) => id)).toContain(`${KEY}-revoked`);
    },
  );

  test('has lost a revocation that this process has never met', async () => {
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
  test('to the same server: nothing is applied again', async () => {
    const restored: number[] = [];
    const store = await redis.open({ onRestored: (count) => restored.push(count) });
    await furnish(store);
    await store.teams.revokeKey(KEY);
    await redis.client.config('RESETSTAT');
    await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    expect(await firstAnswer(store)).toBe('key_revoked');
    expect(restored).toEqual([]);
  });

  test('to a server with a broken record of a team: all other teams are served', async () => {
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
