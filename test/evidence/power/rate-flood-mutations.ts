// Planted bugs in what a gateway remembers of full rate windows, and in what stores say of them.
import { simulated } from './chain-mutations.ts';
import type { Mutation, TestRun } from './mutation.ts';
import { contract, inRedis, inSqlite } from './store-mutations.ts';

const UNIT: TestRun = { file: 'test/unit/runtime/known-full-windows.test.ts' };
const JOURNEY: TestRun = { file: 'test/journey/rate-floods.test.ts' };
const CHANGED: TestRun = { ...JOURNEY, names: 'by this gateway' };
const SIMULATED = simulated(300);
const ADMISSION: TestRun = { file: 'test/unit/steps/admit.test.ts', names: 'until a slot may be free' };

function bug(name: string, file: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name: `floods: ${name}`, edits: [{ file: `src/${file}`, find, replace }], caughtBy };
}

const LATE = 'floods: a slot is said to be free a millisecond late';
const OUTLIVES = 'floods: a refusal outlives the key';
const WINDOWS = 'runtime/known-full-windows.ts';

export const RATE_FLOOD_MUTATIONS: readonly Mutation[] = [
  bug('a refusal is repeated for too long', WINDOWS, 'askedAtMs + fullForMs;', 'askedAtMs + fullForMs + 2;', UNIT, SIMULATED),
  bug('its time counts from the answer', WINDOWS, 'askedAtMs + fullForMs;', 'now() + fullForMs;', UNIT, SIMULATED),
  bug('a refusal is kept for over a second', WINDOWS, 'Math.min(refused.fullForMs ?? 0, RATE_WINDOW_MS)', '(refused.fullForMs ?? 0)', UNIT),
  bug('clocks are taken to run alike', WINDOWS, '* (1 - CLOCK_DRIFT)', '', UNIT),
  bug('a change by this gateway drops nothing', WINDOWS, 'this.#known.clear();', '', UNIT, SIMULATED, CHANGED),
  bug('an answer from before a change counts after it', WINDOWS, ' || askedAtMs <= this.#droppedAtMs', '', UNIT),
  bug('all addresses of a key share a refusal', WINDOWS, 'return address === undefined ? keyId :', 'return keyId ??', UNIT, SIMULATED, {
    ...JOURNEY,
    names: 'an address that the key',
  }),
  bug('memory has no bound', WINDOWS, '&& this.#known.size <= keysMax', '', UNIT),
  bug('what has ended stays in memory', WINDOWS, 'if (endsMs > nowMs && this', 'if (this', UNIT),
  bug('a refusal without the store is not counted', 'steps/admit.ts', 'options.onAdmission(refused, owner.teamId);', '', ADMISSION),
  bug(
    'every refusal asks the store',
    'core/pipeline.ts',
    'if (this.#foreseen(x) || x.bodyDue) return;',
    'if (x.bodyDue) return;',
    ADMISSION,
  ),
  bug(
    'a long body asks the store',
    'steps/authenticate.ts',
    'if (refused === undefined) return ask(x, options);',
    'return ask(x, options);',
    {
      ...JOURNEY,
      names: 'a long body',
    },
  ),
  bug('operators change teams unnoticed', 'admin/admin-operations.ts', 'await this.#options.onChange?.();', '', CHANGED),
  bug('workers do not hear of a change', 'workers/worker-main.ts', 'worker.teamsChanged();', '', {
    file: 'test/journey/workers.test.ts',
    names: 'raised by the admin API',
  }),
  inRedis(LATE, 'lua/admit.lua', 'max(0, holds - now_past)', 'holds', contract('Redis', 'request rate')),
  inSqlite(LATE, 'key-guard.ts', 'expiresInMs) - 1)', 'expiresInMs))', contract('SQLite', 'request rate')),
  inRedis(OUTLIVES, 'lua/admit.lua', 'holds = min(wait, guard.expires - now)', 'holds = wait', contract('Redis', 'keys with limits')),
  inSqlite(OUTLIVES, 'key-guard.ts', 'Math.min(retryAfterMs, expiresInMs)', 'retryAfterMs', contract('SQLite', 'keys with limits')),
];
