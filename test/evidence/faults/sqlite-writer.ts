// A program that charges as fast as it can through the SQLite store, and prints each acknowledged step at once.
import process from 'node:process';
import { ulid } from 'ulid';
import { openSqliteStore } from '../../support/door/stores.ts';
import { promisedLedger } from '../../support/promised-store.ts';

const [path = '', teamId = '', keyId = ''] = process.argv.slice(2);
const PARALLEL = 8;

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const store = await openSqliteStore({ path, log, clock: { nowMs: () => Date.now() }, commandTimeoutMs: 5000 });
const ledger = promisedLedger(store.ledger);
say('ready');
await Promise.all(Array.from({ length: PARALLEL }, work));
process.exit();

/** Until anything but an acknowledgement is returned, which is printed. */
async function work(): Promise<void> {
  for (;;) {
    const requestId = ulid();
    const admission = await ledger.admit({ requestId, teamId, keyId, characters: 3, reserve: true, leaseMs: 60_000, glossary: undefined });
    if (admission.kind !== 'admitted') return say(`end ${admission.kind === 'unavailable' ? admission.cause : admission.kind}`);
    say(`reserved ${requestId}`);
    const resolution = await ledger.resolve(teamId, requestId, 'commit');
    if (resolution.kind !== 'committed') return say(`end ${resolution.kind === 'unavailable' ? resolution.cause : resolution.kind}`);
    say(`committed ${requestId}`);
  }
}

/** Pipes are written synchronously: output survives a kill. */
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
