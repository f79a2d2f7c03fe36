// Preloaded into a gateway: measures the CPU time of the longest turn of its event loop, and reports it over a socket of its own.
import { createServer } from 'node:net';
import process from 'node:process';

/** The path of the socket; send it a letter: `t` for the longest turn since the last query, `r` for the reference. */
export const METER_SOCKET = 'TURN_METER_SOCKET';

const REFERENCE_RUNS = 5;

/** Of the whole process: a garbage collector that runs beside the loop is included, so that no turn is under-reported. */
function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** A fixed piece of work of the kind that bodies cause, which compares a machine with another, or with itself an hour ago. */
function referenceMs(): number {
  const members = Array.from({ length: 10_000 }, (_, i) => `"name ${i} ${'é'.repeat(20)}":"${'ü'.repeat(20)}"`);
  const bytes = Buffer.from(`{${members.join()}}`);
  let least = Infinity;
  for (let run = 0; run < REFERENCE_RUNS; run++) {
    const before = usedMs();
    JSON.parse(bytes.toString());
    least = Math.min(least, usedMs() - before);
  }
  return least;
}

const path = process.env[METER_SOCKET];
if (path !== undefined) {
  let longest = 0;
  let before = usedMs();
  const turn = (): void => {
    const now = usedMs();
    longest = Math.max(longest, now - before);
    before = now;
    setImmediate(turn);
  };
  turn();
  const server = createServer((socket) => {
    socket.once('data', (letter) => {
      const ms = String(letter) === 'r' ? referenceMs() : longest;
      longest = 0;
      before = usedMs();
      socket.end(String(ms));
    });
  });
  server.listen(path).unref();
}
