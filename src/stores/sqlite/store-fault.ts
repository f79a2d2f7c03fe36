// SQLite faults: distinguished from invalid input, and described for operators: which store, what is wrong, what to do.
import { constants, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { StoreAwayError, StoreError } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';

/** A short word for logs and metrics. `busy` passes on its own; the others need an operator. */
type DatabaseFault = 'busy' | 'io' | 'full' | 'corrupt' | 'not_a_database' | 'read_only' | 'cannot_open' | 'memory' | 'closed';

/** By primary result code (the low byte of the extended one). */
const FAULTS: ReadonlyMap<number, DatabaseFault> = new Map([
  [5, 'busy'],
  [6, 'busy'],
  // Another connection took the WAL's locks first; a retry succeeds.
  [15, 'busy'],
  [3, 'cannot_open'],
  [7, 'memory'],
  [8, 'read_only'],
  [10, 'io'],
  [11, 'corrupt'],
  [13, 'full'],
  [14, 'cannot_open'],
  [26, 'not_a_database'],
]);

/** `undefined` if the error is not a fault of the database, but a violated constraint or a bug. */
export function databaseFaultOf(error: unknown): DatabaseFault | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && error.code === 'ERR_INVALID_STATE') return 'closed';
  return 'errcode' in error && typeof error.errcode === 'number' ? FAULTS.get(error.errcode & 0xff) : undefined;
}

/** `replaced`: another file is at the path, and this process still uses the previous one. */
type FileFault = 'vanished' | 'replaced' | 'read_only';

/** Why nothing was done; for a fault during COMMIT, why it is unknown whether it was done. */
export type Cause = DatabaseFault | FileFault | 'queue_full' | 'internal';

const ADVICE: Readonly<Record<Cause, string>> = {
  busy: 'is busy: another program holds its lock; end that program or try again.',
  queue_full: 'is overloaded; try again later.',
  closed: 'is closed; open it again.',
  corrupt: 'is damaged; restore it from a backup.',
  not_a_database: 'is not a SQLite database; name another file.',
  read_only: 'cannot be written; give this user the right to write the file and its directory.',
  full: 'has no space left on its disk; make room.',
  io: 'could not be read or written; check the disk.',
  memory: 'ran out of memory; give this process more.',
  cannot_open: 'cannot be opened; name a file in a directory that this user may write to.',
  vanished: 'is not there any more: it was deleted or moved away; put it back, or restart to begin with a new one.',
  replaced: 'is another file than the one that was opened; restart to use it.',
  internal: 'failed for an unknown reason; report it with the lines around it in the log.',
};

/** Causes that can pass without a change of configuration. */
const MAY_PASS: ReadonlySet<Cause> = new Set(['busy', 'full', 'io']);

/** The name of the store in messages: always one line. */
export function storeName(path: string): string {
  return `sqlite:${path.replace(/\p{Cc}/gu, '?')}`;
}

/** A fault while opening the store. */
export function storeFault(path: string, cause: Cause, error?: unknown): StoreError {
  const kind = MAY_PASS.has(cause) ? StoreAwayError : StoreError;
  return new kind(adviceOn(path, cause), { cause: error });
}

/** `undefined` if nothing is there; throws a `StoreError` if that cannot be seen, for example in another user's directory. */
export function fileAt(path: string): Stats | undefined {
  try {
    return statSync(resolve(path), { throwIfNoEntry: false });
  } catch (error) {
    throw storeFault(path, 'cannot_open', error);
  }
}

/** The result of an operation on an open store that failed. */
export function unavailable(path: string, cause: Cause): StoreUnavailable {
  return { kind: 'unavailable', cause, advice: adviceOn(path, cause) };
}

/**
 * The result of `read`, or `unavailable` for a database fault. In WAL mode no transaction is needed: readers do not wait for
 * writers.
 */
export function looked<T>(path: string, read: () => T): T | StoreUnavailable {
  try {
    return read();
  } catch (error) {
    const cause = databaseFaultOf(error);
    if (cause === undefined) throw error;
    return unavailable(path, cause);
  }
}

/** Converts a database fault to an error for operators; returns any other error unchanged. */
export function asStoreFault(path: string, error: unknown): unknown {
  const fault = databaseFaultOf(error);
  return fault === undefined ? error : storeFault(path, fault, error);
}

function adviceOn(path: string, cause: Cause): string {
  return `${storeName(path)} ${ADVICE[cause]}`;
}

/** Discarded when its last connection closes; for tests. */
export const IN_MEMORY = ':memory:';
const WRITABLE_BY_ANYBODY = 0o222;

/** Watches the file of an open database: SQLite goes on writing to one that was deleted, moved or made read-only, and that is lost. */
export class DatabaseFile {
  readonly #location: string | undefined;
  readonly #opened: string;

  /** Create it right after opening the database. */
  constructor(path: string) {
    this.#location = path === IN_MEMORY ? undefined : resolve(path);
    this.#opened = this.#location === undefined ? '' : identityOf(statSync(this.#location));
  }

  async fault(): Promise<FileFault | undefined> {
    if (this.#location === undefined) return undefined;
    try {
      const found = await stat(this.#location);
      if (identityOf(found) !== this.#opened) return 'replaced';
      // Root may write despite the mode, but the operator's intention counts.
      if ((found.mode & WRITABLE_BY_ANYBODY) === 0) return 'read_only';
      await access(this.#location, constants.W_OK);
      return undefined;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      return code === 'ENOENT' || code === 'ENOTDIR' ? 'vanished' : 'read_only';
    }
  }
}

function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`;
}
