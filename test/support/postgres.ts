// A real PostgreSQL for tests: a server of its own on a free loopback port, which ends, with its data, when it is stopped.
import { launch } from './start-program.ts';

export interface PostgresServer {
  /** Of its database, with the password. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starting one initializes a database first. */
const READY_MS_MAX = 60_000;
const READY = /^ready (\S+) (\S+) (\S+)$/m;

/**
 * Without fsync: no test of it cuts the power. The server lives as long as the shell, whose input ends with us at the latest; killing
 * it would leave the server behind.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const said = 'echo "ready $PGUSER $PGPASSWORD $PGPORT"; cat';
  const program = launch('pg_virtualenv', ['-o', 'fsync=off', 'sh', '-c', said], {
    stdio: ['pipe', 'pipe', 'pipe'],
    uses: ['sh', 'cat'],
  });
  await program.until(READY, READY_MS_MAX);
  const [, user, password, port] = READY.exec(program.output)!;
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${port}/postgres`,
    async stop() {
      program.child.stdin?.end();
      await program.ended;
    },
  };
}
