// Row 25, what a copy of files cannot show: what is acknowledged was on the disk, and a failing disk never makes a balance wrong.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX } from '../scorecard/size.ts';
import { openCut, teamsIn } from './sqlite-copy.ts';
import { acknowledgedBy, startWriter } from './sqlite-writer-process.ts';
import type { WatchedTeam } from './witness.ts';

let folder: string;
let path: string;
let team: WatchedTeam;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-calls-'));
  path = join(folder, 'lingate.db');
  [team] = await teamsIn(path);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Needs strace, which `npm test` does not. */
describe('a store whose system calls are watched', () => {
  const calls = 'trace=pwrite64,fsync,fdatasync,write';

  test('has synced everything that it wrote to the WAL before it acknowledges anything', { timeout: RUN_MS_MAX }, async () => {
    const log = join(folder, 'calls');
    const { child, output, ended } = await startWriter(path, team, ['-f', '-y', '-e', calls, '-o', log]);
    await expect.poll(() => output.length).toBeGreaterThan(500);
    const traced = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
    for (const pid of traced) process.kill(Number(pid), 'SIGKILL');
    await ended;
    const wrong: string[] = [];
    let [dirty, acknowledged] = [false, 0];
    for (const line of readFileSync(log, 'utf8').split('\n')) {
      if (line.includes('lingate.db-wal>') && line.includes('pwrite64')) dirty = true;
      if (line.includes('lingate.db-wal>') && /f(?:data)?sync/.test(line)) dirty = false;
      if (!/write\(1<.*"(?:reserved|committed) /.test(line)) continue;
      acknowledged++;
      if (dirty) wrong.push(line);
    }
    expect(wrong).toEqual([]);
    expect(acknowledged).toBeGreaterThan(500);
    report({
      row: 25,
      figure: 'SQLite with FULL: what is acknowledged has been synced, by its system calls',
      measured: `${acknowledged} acknowledgements, each behind a sync of everything written to the WAL`,
    });
  });

  test.each(['EIO', 'ENOSPC'])(
    'that fail with %s answers unavailable, and keeps what it acknowledged',
    { timeout: RUN_MS_MAX },
    async (error) => {
      const inject = `inject=pwrite64:error=${error}:when=400+`;
      const { output, ended } = await startWriter(path, team, ['-f', '-o', '/dev/null', '-e', 'trace=pwrite64', '-e', inject]);
      await ended;
      expect(output.filter((line) => line.startsWith('end ')).length).toBeGreaterThan(0);
      expect(output.filter((line) => line.startsWith('end ') && !/^end (?:io|full)$/.test(line))).toEqual([]);
      const acknowledged = acknowledgedBy(output, team.teamId);
      const { faults } = await openCut(path, readFileSync(`${path}-wal`), [team], acknowledged);
      expect(faults).toEqual([]);
      report({
        row: 25,
        figure: `SQLite whose writes fail with ${error}`,
        measured: `answered unavailable; 0 of ${acknowledged.length} acknowledged reservations lost, accounts intact`,
        counts: { faults: 1 },
      });
    },
  );
});
