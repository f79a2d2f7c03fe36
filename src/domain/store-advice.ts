// What to do about a store that does not serve, by the cause that log, readiness and console name: for whoever is on call.

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
