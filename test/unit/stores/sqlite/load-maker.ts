// A child process that reserves one character at a time, as fast as it can, and prints each acknowledged step at once.
import { once } from 'node:events';
import { ulid } from 'ulid';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { openSqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts';
import { promisedStore } from '../../../support/promised-store.ts';

const [path = '', teamId = '', keyId = '', mode = 'reserve'] = process.argv.slice(2);
const PARALLEL = 16;

const log = { info: () => {}, warn: () => {}, error: () => {} };
const store = promisedStore(await openSqliteStore({ path, log, clock: { nowMs: () => Date.now() }, busyTimeoutMs: 5000 }));
await say('ready');
await once(process.stdin, 'data');
process.stdin.destroy();
await Promise.all(Array.from({ length: PARALLEL }, () => work(store)));
await say('done');
await store.close();

/** Runs until an answer is not an admission, which is printed. */
async function work({ ledger }: PluginStore): Promise<void> {
  for (;;) {
    const requestId = ulid();
    const admission = await ledger.admit({ requestId, teamId, keyId, characters: 1, reserve: true, leaseMs: 60_000, glossary: undefined });
    if (admission.kind !== 'admitted') return say(`end ${admission.kind === 'unavailable' ? admission.cause : admission.kind}`);
    await say(`admitted ${requestId}`);
    if (mode !== 'commit') continue;
    const resolution = await ledger.resolve(teamId, requestId, 'commit');
    if (resolution.kind !== 'committed') return say(`end ${resolution.kind === 'unavailable' ? resolution.cause : resolution.kind}`);
    await say(`committed ${requestId}`);
  }
}

/** Resolves when the line is in the pipe, where it survives a kill; waits while the pipe is full. */
function say(line: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(`${line}\n`, () => resolve());
  });
}
