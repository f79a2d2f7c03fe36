// The audit in a SQLite file: old entries are deleted a batch at a time, and a change whose transaction fails leaves no entry.
import { expect, test } from 'vitest';
import { DAY_MS } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { GroupCommit } from '../../../../src/stores/sqlite/group-commit.ts';
import { openDatabase } from '../../../../src/stores/sqlite/open-database.ts';
import { SqliteAuditLog } from '../../../../src/stores/sqlite/sqlite-audit-log.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { freshKey, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { sqliteFile } from './sqlite-file.ts';

const BY = { actor: 'cli:ada@host', action: 'updateTeam' } as const;

test('old entries are deleted, a bounded number at a time', async () => {
  const database = await openDatabase(':memory:', 'normal');
  const group = new GroupCommit({ database, path: ':memory:', clock: new MovableClock(), log: SILENT, busyTimeoutMs: 5000 });
  const audit = new SqliteAuditLog(database, group, 400 * DAY_MS);
  const count = (): number => Number(database.prepare('SELECT count(*) AS n FROM audit').get()?.['n']);
  for (let i = 0; i < 10; i++) audit.add(BY, { teamId: 'T', before: {}, after: { name: `n${i}` } }, i < 7 ? 1000 : 2000);
  expect(audit.isDue(400 * DAY_MS + 1000)).toBe(false);
  expect(audit.isDue(400 * DAY_MS + 1001)).toBe(true);
  audit.clear(400 * DAY_MS + 1001, 5);
  expect(count()).toBe(5);
  audit.clear(400 * DAY_MS + 1001, 5);
  expect([count(), audit.isDue(400 * DAY_MS + 1001)]).toEqual([3, false]);
  database.close();
});

test('a change that fails leaves no entry, and others in the same transaction have theirs', async () => {
  const file = sqliteFile();
  const store = await file.open({ clock: new MovableClock() });
  const team = await teamUnderTest(store);
  const make = (label: string, digest: string) =>
    store.teams.createKey({ ...freshKey(team.teamId), digest, label }, { ...BY, action: 'createKey' });
  const [first, wrong, last] = await Promise.allSettled([make('first', 'one'), make('wrong', 'one'), make('last', 'other')]);
  expect([first.status, wrong.status, last.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const entries = answered(await store.audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 9 }));
  expect(entries.map(({ after }) => after.label)).toEqual(['last', 'first']);
  await store.close();
  await file.remove();
});
