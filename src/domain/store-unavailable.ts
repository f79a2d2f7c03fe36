// A store that cannot serve: as a value returned by every port, as the errors thrown when opening
// one, and what to do about it, for whoever is on call.

/** One line that names the store without credentials and says what to do. Never for API callers. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** The store does not answer at the moment; opening it may be retried. */
export class StoreAwayError extends StoreError {}

/** There is no store at the given location, and this program may not create one. */
export class NoStoreError extends StoreError {
  /** The location in a form that people can find; without credentials. */
  readonly place: string;

  constructor(place: string) {
    super(`there is no store at ${place} yet`);
    this.place = place;
  }
}

/** The store cannot be reached, took too long, or has no room. */
export interface StoreUnavailable {
  readonly kind: 'unavailable';
  /** A short word for logs, never for callers. */
  readonly cause: string;
  /** One line for operators: names the store without credentials and says what to do. */
  readonly advice?: string;
}

/** Causes of a store that answers but rejects writes. With others it may be out of reach. */
const TAKES_NO_WRITES: ReadonlySet<string> = new Set(
  // First those of Redis, then those of SQLite.
  ['oom', 'readonly', 'noreplicas', 'misconf', 'full', 'read_only', 'vanished', 'replaced'],
);

export function takesNoWrites(cause: string): boolean {
  return TAKES_NO_WRITES.has(cause);
}

/** For the result of a port, where nothing else has this `kind`. */
export function isUnavailable(answer: unknown): answer is StoreUnavailable {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'unavailable';
}

/** Carries the answer to `answering`, which returns it. */
class UnansweredError extends StoreError {
  readonly answer: StoreUnavailable;

  constructor(answer: StoreUnavailable) {
    super(answer.advice ?? `the store did not answer (${answer.cause}): check that it is running`);
    this.answer = answer;
  }
}

/** For programs that fail by throwing: the result, or a `StoreError` with the advice. */
export function answered<T>(answer: T): Exclude<T, StoreUnavailable> {
  if (isUnavailable(answer)) throw storeErrorOf(answer);
  return answer as Exclude<T, StoreUnavailable>;
}

export function storeErrorOf(answer: StoreUnavailable): StoreError {
  return new UnansweredError(answer);
}

/** For an operation of several calls: its result, or the first that `answered` throws. */
export async function answering<T>(work: () => Promise<T>): Promise<T | StoreUnavailable> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnansweredError) return error.answer;
    throw error;
  }
}

/** A port of methods that throw what the store does not answer: theirs return it. */
export function answeringAll<Port extends object>(methods: Port): Port {
  const all = Object.entries(methods) as [name: string, method: (...args: unknown[]) => Promise<unknown>][];
  return Object.fromEntries(all.map(([name, method]) => [name, (...args: unknown[]) => answering(() => method(...args))])) as Port;
}

/** `shown` contains no credentials. */
export function halfWritten(shown: string): StoreError {
  return new StoreError(
    `the store ${shown} is half-written: a copy into it has not ended; repeat that "lingate store copy" with --restart, or name another store`,
  );
}

const ADVICE: Readonly<Record<string, string>> = {
  // Redis.
  ECONNREFUSED: "start the store, or correct host and port in the store's URL: nobody listens there",
  ENOTFOUND: "correct the host name in the store's URL: it does not resolve here",
  EAI_AGAIN: 'check the name service of this machine: the name of the store cannot be looked up at the moment',
  closed: 'check that the store runs, and its log: it has closed the connection',
  timeout: 'check that the store runs, its load, and the network to it: it does not answer in time',
  wrongpass: "put the right user and password into the store's URL, and restart the gateway",
  noauth: 'put the user and password that the store wants into its URL, and restart the gateway',
  noperm: 'give the user of the store the permissions that the manual lists (stores.md)',
  refused: "check the store's log and its ACL: it refuses the commands",
  loading: 'wait: the store is loading its data',
  clusterdown: 'check the masters of the cluster: not all slots are served',
  oom: 'give the store more memory (maxmemory)',
  readonly: 'find the master: this server is a replica',
  noreplicas: 'check the replicas: min-replicas-to-write is not met',
  misconf: "check the store's disk and log: its last snapshot failed",
  clock: 'set the clock right (timedatectl, chronyc), or if it is right, run "lingate store check --accept-clock"',
  // SQLite.
  full: 'make room on the disk of the database file',
  io: 'check the disk of the database file: its mount, its quota, and the limit on the size of files',
  read_only: 'make the database file and its directory writable for this user',
  vanished: 'put the database file back where it was, or restart to begin with a new one',
  replaced: 'restart: the database file is another one than was opened',
};

/** `undefined` for a cause of which no more is known. */
export function storeAdvice(cause: string): string | undefined {
  return Object.hasOwn(ADVICE, cause) ? ADVICE[cause] : undefined;
}
