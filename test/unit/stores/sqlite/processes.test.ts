// Several processes share one file: limits apply to all of them together, none starves, and a killed one loses nothing that it acknowledged.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { keepSqliteJournal, sqliteJournal } from '../../../evidence/faults/journal/sqlite-journal.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { Child, SqliteFile } from './sqlite-file.ts';

const RATE_NEVER_MET = 10_000_000;

let file: SqliteFile;
let store: PluginStore;

beforeEach(async () => {
  file = sqliteFile();
  store = await file.open();
});

afterEach(() => file.remove());

async function readyChild(team: TeamUnderTest, mode: 'reserve' | 'commit', fileKibMax?: number): Promise<Child> {
  const args = [team.teamId, team.keyId, mode];
  const child = file.child('load-maker.ts', fileKibMax === undefined ? { args } : { args, fileKibMax });
  expect(await child.nextLine()).toBe('ready');
  return child;
}

/** A child's output until it ends, or until `stop` has seen enough. */
async function said(child: Child, stop: (lines: readonly string[]) => void = () => undefined): Promise<string[]> {
  const lines: string[] = [];
  for (let line = await child.nextLine(); line !== undefined; line = await child.nextLine()) {
    lines.push(line);
    stop(lines);
  }
  return lines;
}

function ids(lines: readonly string[], word: string): string[] {
  return lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
}

function assertWhole(): void {
  expect(file.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(file.query('PRAGMA foreign_key_check')).toEqual([]);
}

test('two processes at full speed together get exactly the quota', async () => {
  const quota = 2000;
  const team = await teamUnderTest(store, { requestsPerSecond: RATE_NEVER_MET, characterLimit: quota });
  const children = [await readyChild(team, 'reserve'), await readyChild(team, 'reserve')];
  for (const child of children) child.go();
  const lines = await Promise.all(children.map((child) => said(child)));
  expect(lines.flatMap((own) => ids(own, 'admitted'))).toHaveLength(quota);
  expect(new Set(lines.flatMap((own) => ids(own, 'end')))).toEqual(new Set(['quota_exceeded']));
  expect(await team.standing()).toMatchObject({ heldCharacters: quota, openReservations: quota });
  assertWhole();
});

test('two processes at full speed both make progress: neither waits until the other stops', async () => {
  const team = await teamUnderTest(store, { requestsPerSecond: RATE_NEVER_MET });
  const children = [await readyChild(team, 'commit'), await readyChild(team, 'commit')];
  for (const child of children) child.go();
  const counts = [0, 0];
  const lines = await Promise.all(
    children.map((child, index) =>
      said(child, (soFar) => {
        counts[index] = soFar.length;
        if (Math.min(...counts) >= 400) for (const each of children) each.kill();
      }),
    ),
  );
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(400);
  expect(lines.flatMap((own) => ids(own, 'end'))).toEqual([]);
});

test('two processes together get exactly the slots of the window', async () => {
  const limit = 200;
  keepSqliteJournal(file.path);
  const team = await teamUnderTest(store, { requestsPerSecond: limit });
  const children = [await readyChild(team, 'reserve'), await readyChild(team, 'reserve')];
  for (const child of children) child.go();
  const lines = await Promise.all(children.map((child) => said(child)));
  expect(new Set(lines.flatMap((own) => ids(own, 'end')))).toEqual(new Set(['rate_limited']));
  const places = sqliteJournal(file.path).flatMap(({ placedAtMs }) => (placedAtMs === undefined ? [] : [placedAtMs]));
  // No slot was taken that no process was told of.
  const admitted = lines.flatMap((own) => ids(own, 'admitted')).length;
  expect(places).toHaveLength(admitted);
  expect(admitted).toBeGreaterThanOrEqual(limit);
  expect(places.filter((atMs, index) => index >= limit && atMs - places[index - limit]! < 1000)).toEqual([]);
});

test('a process killed under load leaves an intact file with every acknowledged operation', async () => {
  const team = await teamUnderTest(store, { requestsPerSecond: RATE_NEVER_MET });
  const child = await readyChild(team, 'commit');
  child.go();
  const lines = await said(child, (soFar) => {
    if (soFar.length === 1500) child.kill();
  });
  await child.ended;
  const [admitted, committed] = [ids(lines, 'admitted'), new Set(ids(lines, 'committed'))];
  expect(committed.size).toBeGreaterThan(500);
  expect(lines).not.toContain('done');
  assertWhole();

  const open = new Set(file.query('SELECT request_id FROM operations').map((row) => row['request_id']));
  expect([...committed].filter((id) => open.has(id))).toEqual([]);
  const standing = await team.standing();
  // Each of its 16 workers had at most one operation that was done and not acknowledged yet.
  expect(admitted.filter((id) => !committed.has(id) && !open.has(id)).length).toBeLessThanOrEqual(16);
  expect(standing.usedCharacters).toBeGreaterThanOrEqual(committed.size);
  expect(standing.usedCharacters).toBeLessThanOrEqual(committed.size + 16);
  expect(standing.heldCharacters).toBe(standing.openReservations);
  expect((await team.usage()).keys).toMatchObject([{ characters: standing.usedCharacters, requests: standing.usedCharacters }]);
});

test('a process that runs out of disk answers unavailable, and its file has exactly what it acknowledged', async () => {
  const team = await teamUnderTest(store, { requestsPerSecond: RATE_NEVER_MET });
  const child = await readyChild(team, 'reserve', 1024);
  child.go();
  const lines = await said(child);
  await child.ended;
  const acknowledged = ids(lines, 'admitted');
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(ids(lines, 'end').filter((cause) => cause !== 'io' && cause !== 'full')).toEqual([]);
  expect(ids(lines, 'end')).toHaveLength(16);
  assertWhole();
  expect(await team.standing()).toMatchObject({ heldCharacters: acknowledged.length, openReservations: acknowledged.length });
});
