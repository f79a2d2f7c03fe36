// Planted bugs in what a customer owes: what test keys use for nothing, changes of plan that make a period dearer, and kept usage.
import type { Mutation, TestRun } from './mutation.ts';
import { contract, inRedis, inSqlite } from './store-mutations.ts';

const FREE = { redis: contract('Redis', 'free characters of test keys'), sqlite: contract('SQLite', 'free characters of test keys') };
const DEARER: TestRun = { file: 'test/journey/plan-apply.test.ts', names: 'dearer is said, and done only' };

function copied(from: 'sqlite' | 'redis'): TestRun {
  return { file: 'test/unit/stores/whole-copy.test.ts', names: `from ${from}.*what deleted teams have left` };
}

const REFUSALS: Mutation = {
  name: 'billing: a copy loses the refusals by date',
  edits: [{ where: 'recordsToWrite', find: ', ...ofRefusals]', replace: ']' }],
  caughtBy: [
    { file: 'test/unit/stores/whole-copy.test.ts', names: 'from sqlite.*both give the same answers' },
    { file: 'test/unit/stores/whole-copy.test.ts', names: 'from redis to redis.*both give the same answers' },
  ],
};

const TEST_KEYS: readonly Mutation[] = [
  inSqlite(
    'billing: what is open of the allowance for test keys does not count',
    'accountRefusal',
    'if (ofAllowance + characters <= characterLimit) return undefined;',
    'if (counts.allowanceUsed + characters <= characterLimit) return undefined;',
    FREE.sqlite,
  ),
  inRedis(
    'billing: what is open of the allowance for test keys does not count',
    'judge in admit.lua',
    'if own.used + own.held + characters > plan.test_allowance then',
    'if own.used + characters > plan.test_allowance then',
    FREE.redis,
  ),
  inSqlite(
    'billing: what test keys use for nothing counts against the quota',
    'accountRefusal',
    'counts.usedCharacters + counts.heldCharacters + characters - ofAllowance;',
    'counts.usedCharacters + counts.heldCharacters + characters;',
    FREE.sqlite,
  ),
  inRedis(
    'billing: what test keys use for nothing counts against the quota',
    'is_over_quota',
    'used + held - own.used - own.held + characters',
    'used + held + characters',
    FREE.redis,
  ),
  inSqlite(
    'billing: a reservation of the allowance costs credit after all',
    'SqliteLedger.#place',
    "limits.billing === 'credit' && !ofAllowance ?",
    "limits.billing === 'credit' ?",
    FREE.sqlite,
  ),
  inRedis(
    'billing: a reservation of the allowance costs credit after all',
    'judge in admit.lua',
    'reserve(i, id, key_id, IS_OF_ALLOWANCE, characters, 0, guard, is_windowed)',
    'reserve(i, id, key_id, IS_OF_ALLOWANCE, characters, plan.on_credit and characters * plan.minor_per_million or 0, guard, is_windowed)',
    FREE.redis,
  ),
  inSqlite(
    'billing: a part that is charged leaves the rest of the allowance held',
    'SqliteLedger.#settle',
    'this.#accounts.moveAllowance(team, 0, -held.characters);',
    'this.#accounts.moveAllowance(team, 0, -(characters ?? held.characters));',
    FREE.sqlite,
  ),
  inRedis(
    'billing: a part that is charged leaves the rest of the allowance held',
    'resolve in resolve.lua',
    'allowance.release(byte(record), characters, reserved_in)',
    'allowance.release(byte(record), what == COMMIT_PART and op_characters[i] or characters, reserved_in)',
    FREE.redis,
  ),
];

export const BILLING_MUTATIONS: readonly Mutation[] = [
  ...TEST_KEYS,
  REFUSALS,
  {
    name: 'billing: a change of plan is dearer for nobody',
    edits: [{ where: 'DearerSum.add', find: 'this.#teams++;', replace: '' }],
    caughtBy: [DEARER],
  },
  {
    name: 'billing: a team gets a dearer plan without a question',
    edits: [
      {
        where: 'AdminOperations.updateTeam',
        find: 'if (dearer !== undefined && edit.confirmed !== true)',
        replace: 'if (dearer !== undefined && dearer.teams === 0)',
      },
    ],
    caughtBy: [DEARER, { file: 'test/journey/console-plans.test.ts', names: 'what becomes dearer is said' }],
  },
  {
    name: 'billing: a plan that makes periods dearer is applied without a question',
    edits: [{ where: 'PlanOperations.apply', find: 'if (dearer.teams > 0 && !confirmed) return', replace: 'if (dearer.teams < 0) return' }],
    caughtBy: [DEARER],
  },
  inSqlite(
    'billing: a copy loses the kept usage of deleted teams',
    'SqliteReader.loose',
    'for (const [no] of this.#sql.kept.all()) yield this.#kept(no);',
    '',
    copied('sqlite'),
  ),
  inRedis(
    'billing: a copy loses the kept usage of deleted teams',
    'RedisReader.loose',
    "for (const teamId of await this.#redis.zrange(ONLY_USAGE_KEY, '0', '-1'))",
    'for (const teamId of [] as string[])',
    copied('redis'),
  ),
];
