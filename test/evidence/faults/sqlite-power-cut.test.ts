// Row 25: the SQLite file after a power cut at any byte: an intact prefix of the commits, with everything that was acknowledged.
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { promisedLedger } from '../../support/promised-store.ts';
import { lasting } from './pace.ts';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, sized } from '../scorecard/size.ts';
import { seeded } from './seeded.ts';
import { framesOf, openCut, teamsIn } from './sqlite-copy.ts';
import type { Acknowledged } from './sqlite-copy.ts';
import { acknowledgedBy, startWriter } from './sqlite-writer-process.ts';
import { openWitness } from './witness.ts';
import type { WatchedTeam } from './witness.ts';

const TURNS = sized(15, 60);
const RANDOM_CUTS = sized(30, 500, 5000);
const SNAPSHOTS = sized(4, 60, 600);

let folder: string;
let path: string;
let teams: WatchedTeam[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-power-'));
  path = join(folder, 'lingate.db');
  teams = await teamsIn(path);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a store whose WAL is cut', () => {
  /** A reservation with the WAL's length at each of its steps. */
  interface Steps extends Pick<Acknowledged, 'teamId' | 'requestId' | 'characters'> {
    readonly verdict: 'commit' | 'release';
    readonly reservedAt: number;
    askedAt: number;
    endedAt: number;
  }

  /** Some batches of concurrent admissions, commits and releases, as a gateway makes them. */
  async function load(store: Store): Promise<Steps[]> {
    const ledger = promisedLedger(store.ledger);
    const random = seeded();
    const all: Steps[] = [];
    const walBytes = (): number => statSync(`${path}-wal`).size;
    let open: Steps[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const ends = open.map(async (one) => {
        one.askedAt = walBytes();
        expect((await ledger.resolve(one.teamId, one.requestId, one.verdict)).kind).toMatch(/committed|released/);
        one.endedAt = walBytes();
      });
      const starts = Array.from({ length: random.between(1, 6) }, async () => {
        const { teamId, keyId } = random.oneOf(teams);
        const [requestId, characters] = [ulid(), random.between(1, 999)];
        const verdict = random.chance(0.7) ? ('commit' as const) : ('release' as const);
        const asked = { requestId, teamId, keyId, characters, reserve: true, leaseMs: 600_000, glossary: undefined };
        expect(await ledger.admit(asked)).toMatchObject({ kind: 'admitted' });
        return { teamId, requestId, characters, verdict, reservedAt: walBytes(), askedAt: Infinity, endedAt: Infinity };
      });
      open = await Promise.all(starts);
      all.push(...open);
      await Promise.all(ends);
    }
    return all;
  }

  /** What was acknowledged when the WAL had this length. */
  function acknowledgedAt(all: readonly Steps[], bytes: number): Acknowledged[] {
    return all
      .filter(({ reservedAt }) => reservedAt <= bytes)
      .map(({ askedAt, endedAt, verdict, ...one }) => ({
        ...one,
        ...(askedAt <= bytes ? { asked: verdict } : {}),
        isEnded: endedAt <= bytes,
      }));
  }

  test(
    'at every frame and at random bytes is a prefix of the commits with everything acknowledged by then',
    { timeout: RUN_MS_MAX },
    async () => {
      const store = await openWitness(`sqlite:${path}`);
      const steps = await load(store);
      const wal = readFileSync(`${path}-wal`);
      copyFileSync(path, `${path}.cut`);
      await store.close();

      const frames = framesOf(wal);
      const commits = frames.filter((frame) => frame.commits);
      expect(commits.length).toBeGreaterThanOrEqual(TURNS);
      const random = seeded();
      const cuts = [0, ...frames.map(({ endsAt }) => endsAt), ...Array.from({ length: RANDOM_CUTS }, () => random.between(0, wal.length))];
      /** What each number of commits has written. */
      const contents = new Map<number, string>();
      for (const cut of cuts) {
        const done = commits.filter(({ endsAt }) => endsAt <= cut).length;
        const acknowledged = acknowledgedAt(steps, cut);
        const { content, faults } = await openCut(`${path}.cut`, wal.subarray(0, cut), teams, acknowledged, contents.get(done));
        expect([cut, faults]).toEqual([cut, []]);
        // Nothing between two commits, after which everything was acknowledged: a cut gives exactly the state of the last one.
        expect([cut, content]).toEqual([cut, contents.get(done) ?? content]);
        contents.set(done, content);
      }
      expect(new Set(contents.values()).size).toBe(commits.length + 1);
      report({
        row: 25,
        figure: `SQLite WAL cut at each of ${frames.length} frames and ${RANDOM_CUTS} random bytes`,
        measured: `${cuts.length} of ${cuts.length} reopened intact, each a prefix of the ${commits.length} commits, its accounts exact; 0 of ${steps.length} acknowledged reservations lost`,
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

    const last = await openCut(path, readFileSync(`${path}-wal`), teams, acknowledgedBy(output, teams[0]!.teamId));
    expect(last.faults).toEqual([]);
    const all = acknowledgedBy(output, teams[0]!.teamId);
    for (const { at, output: before } of copies) {
      const known = acknowledgedBy(before, teams[0]!.teamId);
      // Until the signal stopped it, the writer went on.
      const later = all.slice(known.length).map((one) => ({ ...one, isLater: true }));
      const { faults } = await openCut(at, readFileSync(`${at}-wal`), teams, [...known, ...later]);
      expect(faults).toEqual([]);
    }
    report({
      row: 25,
      figure: `SQLite copied ${SNAPSHOTS} times while a process writes, which is killed in the end`,
      measured: `${SNAPSHOTS} of ${SNAPSHOTS} copies whole, their accounts exact; 0 of ${acknowledgedBy(output, '').length} acknowledged reservations lost`,
      counts: { faults: SNAPSHOTS },
    });
  });
});
