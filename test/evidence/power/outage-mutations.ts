// Planted bugs in a gateway whose store fails: the probe, the wait at the start, and revocations after a failover.
import type { Edit, Mutation } from './mutation.ts';

function planted(name: string, edit: Edit, test: string): Mutation {
  return { name: `${name} (outage)`, edits: [edit], caughtBy: [{ file: `test/unit/${test}.test.ts` }] };
}

export const OUTAGE_MUTATIONS: readonly Mutation[] = [
  planted(
    'the probe only reads',
    { where: 'writeProbe.write', find: "redis.set(probeKey(tag, name), '', 'PX', KEPT_MS)", replace: 'redis.ping()' },
    'stores/redis/write-probe',
  ),
  planted(
    'a state that flaps is logged each time',
    { where: 'StateLog.note', find: '(!this.#follows && nowMs - this.#sinceMs < HELD_MS)', replace: 'false' },
    'runtime/store-probe',
  ),
  planted(
    'an admission that was refused as a write waits for the probe',
    { where: 'StoreProbe.failed', find: "this.#fault ??= { kind: 'unavailable', cause };", replace: '' },
    'runtime/store-probe',
  ),
  planted(
    'a probe in flight while the process stands still is overdue',
    {
      where: 'StoreProbe.fault',
      find: 'this.#asking && this.#running.steppedMs >= EVERY_MS',
      replace: 'this.#asking && this.#running.ranMs + this.#running.stoodMs >= EVERY_MS',
    },
    'runtime/store-probe',
  ),
  planted(
    'a deadline of the driver that passed while the process stood still is a fault of the store',
    {
      where: 'StoreProbe.#conclude',
      find: 'DEADLINES.has(fault.cause) && stoodMs >= STEP_MS && steppedMs < EVERY_MS',
      replace: 'false',
    },
    'runtime/store-probe',
  ),
  planted(
    'a file that was moved away is written on',
    { where: 'ping', find: 'group.setAway(fault);', replace: '' },
    'stores/sqlite/database-file',
  ),
  planted(
    'a new master is not told what was revoked',
    { where: 'Masters.#look', find: 'await this.#reapply(name);', replace: 'await Promise.resolve();' },
    'stores/redis/masters',
  ),
  planted(
    'a master is asked before it was looked at',
    {
      where: 'LedgerTurns.#send',
      find: '!isChecked && masters !== undefined && !masters.settled.has(node)',
      replace: 'false',
    },
    'stores/redis/ledger-turns',
  ),
  planted(
    'WAIT on the connection of the admissions',
    {
      where: 'Replication.#wait',
      find: "own.call('WAIT', REPLICAS, WAIT_MS)",
      replace: "this.#link.redis.call('WAIT', REPLICAS, WAIT_MS)",
    },
    'stores/redis/replication',
  ),
  planted(
    'a wrong password is waited for',
    { where: 'openAwaited', find: 'if (!(error instanceof StoreAwayError)) throw error;', replace: '' },
    'app/configured-store',
  ),
];
