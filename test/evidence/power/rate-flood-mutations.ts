// Planted bugs in what a gateway remembers of full rate windows, and in what stores say of them.
import { simulated } from './chain-mutations.ts';
import type { Mutation, TestRun } from './mutation.ts';
import { contract, inRedis, inSqlite } from './store-mutations.ts';

const UNIT: TestRun = { file: 'test/unit/runtime/known-full-windows.test.ts' };
const JOURNEY: TestRun = { file: 'test/journey/rate-floods.test.ts' };
const CHANGED: TestRun = { ...JOURNEY, names: 'by this gateway' };
const SIMULATED = simulated(300);
const ADMISSION: TestRun = { file: 'test/unit/steps/admit.test.ts', names: 'until a slot may be free' };

function bug(name: string, where: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name: `floods: ${name}`, edits: [{ where, find, replace }], caughtBy };
}

const LATE = 'floods: a slot is said to be free a millisecond late';
const OUTLIVES = 'floods: a refusal outlives the key';

export const RATE_FLOOD_MUTATIONS: readonly Mutation[] = [
  bug(
    'a refusal is repeated for too long',
    'KnownFullWindows.note',
    'askedAtMs + fullForMs;',
    'askedAtMs + fullForMs + 2;',
    UNIT,
    SIMULATED,
  ),
  bug('its time counts from the answer', 'KnownFullWindows.note', 'askedAtMs + fullForMs;', 'now() + fullForMs;', UNIT, SIMULATED),
  bug(
    'a refusal is kept for over a second',
    'KnownFullWindows.note',
    'Math.min(refused.fullForMs ?? 0, RATE_WINDOW_MS)',
    '(refused.fullForMs ?? 0)',
    UNIT,
  ),
  bug('clocks are taken to run alike', 'KnownFullWindows.note', '* (1 - CLOCK_DRIFT)', '', UNIT),
  bug('a change by this gateway drops nothing', 'KnownFullWindows.drop', 'this.#known.clear();', '', UNIT, SIMULATED, CHANGED),
  bug('an answer from before a change counts after it', 'KnownFullWindows.note', ' || askedAtMs <= this.#droppedAtMs', '', UNIT),
  bug('all addresses of a key share a refusal', 'nameOf in known-full-windows.ts', "${address ?? '-'}", '-', UNIT, SIMULATED, {
    ...JOURNEY,
    names: 'an address that the key',
  }),
  bug('a disabled tag is hidden by the refusal of another', 'KnownFullWindows.#isJudged', 'names.has(tag) &&', '', UNIT),
  bug('what was asked of a tag holds for ever', 'judgedWith', '&& askedAtMs < before.sinceMs + RATE_WINDOW_MS', '', UNIT),
  bug('every new tag asks the store', 'KnownFullWindows.#isJudged', 'names.size >= TAGS_MAX ||', '', UNIT),
  bug('memory has no bound', 'KnownFullWindows.note', '&& this.#known.size <= keysMax', '', UNIT),
  bug('what has ended stays in memory', 'KnownFullWindows.note', 'if (endsMs > nowMs && this', 'if (this', UNIT),
  bug('a refusal without the store is not counted', 'admitStep.foresee', 'options.onAdmission(refused, owner.teamId);', '', ADMISSION),
  bug(
    'every refusal asks the store',
    'Pipeline.advance',
    'if (this.#foreseen(x) || x.bodyDue) return;',
    'if (x.bodyDue) return;',
    ADMISSION,
  ),
  bug('a long body asks the store', 'check', 'if (refused === undefined) return', 'return', {
    ...JOURNEY,
    names: 'a long body',
  }),
  bug('operators change teams unnoticed', 'OperationContext.changing', 'await this.options.onChange?.();', '', CHANGED),
  bug('workers do not hear of a change', 'answerTo in worker-main.ts', 'worker.teamsChanged();', '', {
    file: 'test/journey/workers.test.ts',
    names: 'raised by the admin API',
  }),
  inRedis(LATE, 'too_fast', 'max(0, holds - now_past)', 'holds', contract('Redis', 'request rate')),
  inSqlite(LATE, 'fullForMs', 'expiresInMs) - 1)', 'expiresInMs))', contract('SQLite', 'request rate')),
  inRedis(OUTLIVES, 'too_fast', 'holds = min(wait, guard.expires - now)', 'holds = wait', contract('Redis', 'keys with limits')),
  inSqlite(OUTLIVES, 'fullForMs', 'Math.min(retryAfterMs, expiresInMs)', 'retryAfterMs', contract('SQLite', 'keys with limits')),
];
