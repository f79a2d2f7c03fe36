// A database file in a directory of its own, with the stores opened on it and the child processes that share it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { openSqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts';
import type { SqliteStoreOptions } from '../../../../src/stores/sqlite/sqlite-store.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { launch } from '../../../support/start-program.ts';
import type { StartOptions } from '../../../support/start-program.ts';

const WALL_CLOCK = { nowMs: () => Date.now() };

interface Child {
  /** The next line that it prints; `undefined` when it has ended. */
  nextLine(): Promise<string | undefined>;
  /** Lets it continue. */
  go(): void;
  /** Ends it as a crash would. */
  kill(): void;
  readonly ended: Promise<void>;
}

export interface SqliteFile {
  readonly directory: string;
  readonly path: string;
  /** With a long timeout by default: the cores may be busy with other tests. */
  open(options?: Partial<SqliteStoreOptions>): Promise<PluginStore>;
  /** Reads the file directly. */
  query(sql: string): Record<string, unknown>[];
  /** Runs a script beside this file with the path as its first argument. */
  child(script: string, options?: { readonly args?: readonly string[]; readonly fileKibMax?: number }): Child;
  remove(): Promise<void>;
}

export function sqliteFile(): SqliteFile {
  const directory = mkdtempSync(join(tmpdir(), 'lingate-sqlite-'));
  const path = join(directory, 'lingate.db');
  const stores: PluginStore[] = [];
  const children: Child[] = [];
  return {
    directory,
    path,
    async open(options = {}) {
      const store = promisedStore(await openSqliteStore({ path, log: SILENT, clock: WALL_CLOCK, commandTimeoutMs: 5000, ...options }));
      stores.push(store);
      return store;
    },
    query(sql) {
      const database = new DatabaseSync(path, { timeout: 5000 });
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
    child(script, { args = [], fileKibMax } = {}) {
      const child = startChild(script, [path, ...args], fileKibMax);
      children.push(child);
      return child;
    },
    async remove() {
      for (const child of children) child.kill();
      await Promise.all(children.map((child) => child.ended));
      await Promise.all(stores.map((store) => store.close()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const CONVERSING: StartOptions = { stdio: ['pipe', 'pipe', 'inherit'], uses: ['node'] };

/** Runs Node with a limit on file sizes, which POSIX shells count in blocks of 512 bytes. */
function limited(fileKibMax: number, node: readonly string[]): string[] {
  return ['-c', `ulimit -f ${fileKibMax * 2}; exec "$0" "$@"`, process.execPath, ...node];
}

function startChild(script: string, args: readonly string[], fileKibMax: number | undefined): Child {
  const node = ['--no-warnings', fileURLToPath(new URL(script, import.meta.url)), ...args];
  const program = fileKibMax === undefined ? launch('node', node, CONVERSING) : launch('sh', limited(fileKibMax, node), CONVERSING);
  const { child } = program;
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return {
    async nextLine() {
      const next = await lines.next();
      return next.done === true ? undefined : next.value;
    },
    go: () => void child.stdin?.write('go\n'),
    kill: () => void child.kill('SIGKILL'),
    ended: program.ended.then(() => undefined),
  };
}

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** The number of commits in the WAL since its last restart: only a transaction's last frame has the database's size. */
export function commitsInWal(path: string): number {
  const wal = readFileSync(`${path}-wal`);
  if (wal.length < WAL_HEADER_BYTES) return 0;
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let commits = 0;
  for (let at = WAL_HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) !== 0) commits++;
  }
  return commits;
}
