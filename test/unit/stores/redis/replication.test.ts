// Whether a replica has confirmed a write: yes, no after a second, or no answer if there is no replica; and no other call waits for it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../../src/ports/store.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { startReplicated, until } from '../../../support/redis-sentinel.ts';
import type { ReplicatedServer } from '../../../support/redis-sentinel.ts';
import { promisedLedger } from '../../../support/promised-store.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { KEY, TEAM, asking, furnish } from './fixture.ts';

const WAIT_MS = 1000;

let master: ReplicatedServer;
let replica: ReplicatedServer;
let store: Store;

beforeAll(async () => {
  master = await startReplicated();
  store = await openRedisStore({ url: master.server.url, log: SILENT });
  await furnish(store);
});

afterAll(async () => {
  replica.server.process.kill('SIGCONT');
  await store.close();
  for (const { client, server } of [master, replica]) {
    client.disconnect();
    await server.stop();
  }
});

test('a write is confirmed with a replica, not with one that hangs or has gone, and not waited for without one', async () => {
  expect(await store.teams.replicated([TEAM])).toBeUndefined();

  replica = await startReplicated(['--replicaof', '127.0.0.1', String(master.server.port)]);
  await until('the replica has its data', async () => (await replica.client.info('replication')).includes('master_link_status:up'));
  await store.teams.updateTeam(TEAM, { name: 'Renamed' });
  expect(await store.teams.replicated([TEAM])).toBe(true);

  replica.server.process.kill('SIGSTOP');
  await store.teams.revokeKey(KEY);
  const startedAtMs = performance.now();
  const confirmed = store.teams.replicated([TEAM]).then((answer) => ({ answer, tookMs: performance.now() - startedAtMs }));
  // WAIT has a connection of its own: it takes up to a second, and admissions have only half of one.
  for (let i = 0; i < 20; i++) expect(await promisedLedger(store.ledger).admit(asking(`r${i}`))).toEqual({ kind: 'key_revoked' });
  const { answer, tookMs } = await confirmed;
  expect(answer).toBe(false);
  expect(tookMs).toBeGreaterThan(WAIT_MS * 0.9);

  replica.server.process.kill('SIGKILL');
  await until('the master has noticed', async () => (await master.client.info('replication')).includes('connected_slaves:0'));
  expect(await store.teams.replicated([TEAM])).toBe(false);
});
