// Row 25: the SQLite file after a power cut at any byte: an intact prefix of the commits, with everything that was acknowledged.
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { promisedLedger } from '../../support/promised-store.ts';
import { sqliteJournal } from './journal/sqlite-journal.ts';
import { lasting } from './pace.ts';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, sized } from '../scorecard/size.ts';
import { seeded } from './seeded.ts';
import { acknowledgedIn, framesOf, journalledTeams, openCut } from './sqlite-copy.ts';
import { acknowledgements, missing, startWriter } from './sqlite-writer-process.ts';
import { openWitness } from './witness.ts';
import type { WatchedTeam } from './witness.ts';

const TURNS = sized(30, 60);
const RANDOM_CUTS = sized(60, 500, 5000);
const SNAPSHOTS = sized(8, 60, 600);

let folder: string;
let path: string;
let teams: WatchedTeam[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-power-'));
  path = join(folder, 'lingate.db');
  teams = await journalledTeams(path);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a store whose WAL is cut', () => {
  interface Acknowledged {
    readonly what: string;
    /** The WAL's length when it was acknowledged. */
    readonly walBytes: number;
  }

  /** Some batches of concurrent admissions, commits and releases, as a gateway makes them. */
  async function load(store: Store): Promise<Acknowledged[]> {
    const ledger = promisedLedger(store.ledger);
    const random = seeded();
    const acknowledged: Acknowledged[] = [];
    const acknowledge = (what: string) => acknowledged.push({ what, walBytes: statSync(`${path}-wal`).size });
    let open: { teamId: string; requestId: string }[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const ends = open.map(async ({ teamId, requestId }) => {
        const resolution = await ledger.resolve(teamId, requestId, random.chance(0.7) ? 'commit' : 'release');
        acknowledge(`${resolution.kind} ${requestId}`);
      });
      const starts = Array.from({ length: random.between(1, 6) }, async () => {
        const { teamId, keyId } = random.oneOf(teams);
        const requestId = ulid();
        const asked = {
          requestId,
          teamId,
          keyId,
          characters: random.between(1, 999),
          reserve: true,
          leaseMs: 600_000,
          glossary: undefined,
        };
        expect(await ledger.admit(asked)).toMatchObject({ kind: 'admitted' });
        acknowledge(`reserved ${requestId}`);
        return { teamId, requestId };
      });
      open = await Promise.all(starts);
      await Promise.all(ends);
    }
    return acknowledged;
  }

  test(
    'at every frame and at random bytes is a prefix of the commits with everything acknowledged by then',
    { timeout: RUN_MS_MAX },
    async () => {
      const store = await openWitness(`sqlite:${path}`);
      const acknowledged = await load(store);
      const wal = readFileSync(`${path}-wal`);
      const whole = sqliteJournal(path);
      copyFileSync(path, `${path}.cut`);
      await store.close();

      const frames = framesOf(wal);
      const commits = frames.filter((frame) => frame.commits);
      expect(commits.length).toBeGreaterThanOrEqual(TURNS);
      const random = seeded();
      const cuts = [0, ...frames.map(({ endsAt }) => endsAt), ...Array.from({ length: RANDOM_CUTS }, () => random.between(0, wal.length))];
      /** How much of the journal each number of commits contains. */
      const lengths = new Map<number, number>();
      for (const cut of cuts) {
        const { operations, faults } = await openCut(`${path}.cut`, wal.subarray(0, cut), teams);
        expect([cut, faults]).toEqual([cut, []]);
        expect(operations).toEqual(whole.slice(0, operations.length));
        // Nothing between two commits: a cut gives exactly the state of the last commit before it.
        const done = commits.filter(({ endsAt }) => endsAt <= cut).length;
        expect([cut, operations.length]).toEqual([cut, lengths.get(done) ?? operations.length]);
        lengths.set(done, operations.length);
        const held = acknowledgedIn(operations);
        expect(acknowledged.filter(({ what, walBytes }) => walBytes <= cut && !held.has(what))).toEqual([]);
      }
      expect(lengths.get(commits.length)).toBe(whole.length);
      report({
        row: 25,
        figure: `SQLite WAL cut at each of ${frames.length} frames and ${RANDOM_CUTS} random bytes`,
        measured: `${cuts.length} of ${cuts.length} reopened intact, each a prefix of the ${commits.length} commits, its accounts the sums of its ids; 0 of ${acknowledged.length} acknowledged lost`,
        counts: { faults: cuts.length },
      });
    },
  );
});

describe('a store that is copied while it is written', () => {
  /** A signal takes a moment to stop every thread. */
  const isStopped = (pid: number) =>
    readdirSync(`/proc/${pid}/task`).every((thread) => /\) [Tt] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')));

  test('at random moments, checkpoints among them, is a prefix with everything acknowledged by then', { timeout: RUN_MS_MAX }, async () => {
    const random = seeded();
    const { child, output, ended } = await startWriter(path, teams[0]!);
    const copies: { readonly at: string; readonly output: readonly string[] }[] = [];
    for (let i = 0; i < SNAPSHOTS; i++) {
      await lasting(random.between(20, 120));
      const outputBefore = [...output];
      child.kill('SIGSTOP');
      await expect.poll(() => isStopped(child.pid!), { interval: 1 }).toBe(true);
      const at = join(folder, `copy-${i}`);
      copyFileSync(path, at);
      copyFileSync(`${path}-wal`, `${at}-wal`);
      copies.push({ at, output: outputBefore });
      child.kill('SIGCONT');
    }
    child.kill('SIGKILL');
    await ended;

    const whole = sqliteJournal(path);
    expect(missing(whole, output)).toEqual([]);
    for (const copy of copies) {
      const { operations, faults } = await openCut(copy.at, readFileSync(`${copy.at}-wal`), teams);
      expect(faults).toEqual([]);
      expect(operations).toEqual(whole.slice(0, operations.length));
      expect(missing(operations, copy.output)).toEqual([]);
    }
    report({
      row: 25,
      figure: `SQLite copied ${SNAPSHOTS} times while a process writes, which is killed in the end`,
      measured: `${SNAPSHOTS} of ${SNAPSHOTS} copies whole, each a prefix of the journal; 0 of ${acknowledgements(output).length} acknowledged steps lost`,
      counts: { faults: SNAPSHOTS },
    });
  });
});
