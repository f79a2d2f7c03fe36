// Planted bugs in the listeners, in client addresses and in the supervision of workers.
import type { Mutation, TestRun } from './mutation.ts';

const CONNECTION: TestRun = { file: 'test/unit/server/node-connection.test.ts' };
const ADDRESS: TestRun = { file: 'test/unit/domain/client-address.test.ts' };
const HEARTBEATS: TestRun = { file: 'test/unit/workers/heartbeats.test.ts' };
const RENEWAL: TestRun = { file: 'test/unit/server/tls-renewal.test.ts' };

/** One edit, which is enough for most bugs. */
function bug(name: string, where: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name, edits: [{ where, find, replace }], caughtBy };
}

export const LISTENER_MUTATIONS: readonly Mutation[] = [
  bug(
    'pipelined requests begin before their turn',
    'NodeConnection.request',
    'if (res.socket !== null) return this.#begin(req, res);',
    'if (res.socket !== undefined) return this.#begin(req, res);',
    CONNECTION,
  ),
  bug(
    'a reply that waits is settled at once',
    'Call.#hold',
    "return reply === undefined ? 'written' : 'held';",
    "return 'written';",
    CONNECTION,
  ),
  bug(
    'an answer that ends its connection waits for the rest of the body',
    'Call.#hold',
    'setImmediate(() => this.#release());',
    'if (this.#arriving !== undefined) setTimeout(() => this.#release(), 5_000);\n    else setImmediate(() => this.#release());',
    { file: 'test/journey/unread-bodies.test.ts', names: 'whatever the head says' },
  ),
  bug('a write that the system refused is a delivery', 'NodeCall.#taken', 'this.#req.socket.errored === null;', 'true;', CONNECTION),
  bug('an open quote takes in what the proxy has said', 'splitUnquoted', 'return quoted ? undefined : parts;', 'return parts;', ADDRESS),
  bug('a primary that was stopped judges its workers', 'HeartbeatWatch.look', 'if (late) heard.atMs = nowMs;', '', HEARTBEATS),
  bug(
    'the certificate before goes on being served beside the new one',
    'TlsApps.renew',
    'if (before !== first) first.removeChildAppDescriptor(before.getDescriptor!());',
    '',
    RENEWAL,
  ),
];
