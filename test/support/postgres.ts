// A real PostgreSQL for tests: a server of its own on a free loopback port, which ends, with its data, when it is stopped.
import process from 'node:process';
import { freePort } from './free-port.ts';
import { launch } from './start-program.ts';

interface PostgresServer {
  /** Of its database, with the password. */
  readonly url: string;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
/** Starting one initializes a database first. */
const READY_MS_MAX = 60_000;
const READY = /^ready (\S+) (\S+) (\S+)$/m;

export async function startPostgres(): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      // Another process may have taken the port since it was found free.
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

/**
 * In a temporary directory even as root (-t), so that any number can run at a time. Without fsync: no test of it cuts the power. The
 * shell ends with its input, and pg_virtualenv then stops the server; if pg_virtualenv itself is killed, the server stays behind.
 */
async function start(port: number): Promise<PostgresServer> {
  const said = 'echo "ready $PGUSER $PGPASSWORD $PGPORT"; cat';
  const program = launch('pg_virtualenv', ['-t', '-o', 'fsync=off', 'sh', '-c', said], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PGPORT: String(port) },
    uses: ['sh', 'cat'],
  });
  const stop = async (): Promise<void> => {
    program.child.stdin?.end();
    await program.ended;
  };
  try {
    await program.until(READY, READY_MS_MAX);
  } catch (error) {
    await stop();
    throw error;
  }
  const [, user, password, shownPort] = READY.exec(program.output)!;
  return { url: `postgres://${user}:${password}@127.0.0.1:${shownPort}/postgres`, stop };
}
