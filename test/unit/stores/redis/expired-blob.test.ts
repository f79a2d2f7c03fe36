// What is prepared for an account expires: then nothing of the account is written, and whoever writes it learns it.
import { expect, test } from 'vitest';
import type { WholeAccount } from '../../../../src/ports/whole-accounts.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { preparedOf, groupKey } from '../../../../src/stores/redis/redis-keys.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { furnish, TEAM } from './fixture.ts';

const redis = emptyRedis();

test('an account whose blob has expired before it could be attached is not written, and is not said to be', async ({ onTestFinished }) => {
  const store = await openRedisStore({ url: redis.server.url, log: SILENT, commandTimeoutMs: 5000 });
  onTestFinished(() => store.close());
  await furnish(promisedStore(store));
  let account: WholeAccount | undefined;
  expect(await store.accounts.change(TEAM, (found) => void (account = found))).toBeUndefined();
  // Nothing is prepared of a blob without pieces.
  const attach = [{ blobId: 'expired', pieces: [] }];
  const renamed = { ...account!, team: { ...account!.team, name: 'Renamed' } };
  expect(await store.accounts.change(TEAM, () => ({ account: renamed, attach }))).toEqual({ kind: 'unavailable', cause: 'overdue' });
  expect(await redis.client.exists(groupKey(TEAM) + preparedOf('expired'))).toBe(0);
  expect(await store.teams.findTeam(TEAM)).toMatchObject({ name: 'Team' });
});
