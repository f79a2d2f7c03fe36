// Planted bugs in the limits of keys, each rule in both stores.
import { simulated } from './chain-mutations.ts';
import type { Mutation, TestRun } from './mutation.ts';
import { contract, inRedis, inSqlite } from './store-mutations.ts';

const TITLE = 'keys with limits';
const SIMULATED = simulated(250);

type Bug = readonly [name: string, where: string, find: string, replace: string, ...more: TestRun[]];

const REDIS: readonly Bug[] = [
  ['a scope is found in the middle of another', 'has_scope', 'string.char(SCOPE, #scope) .. scope', 'scope'],
  ['a request without a scope is let through', 'guarding.refusal', 'return SCOPE_WANTED', 'return nil'],
  ['a disabled key is let through', 'guarding.refusal', 'if guard.disabled == 1 then', 'if guard.disabled == 2 then'],
  ['a key expires a millisecond late', 'guarding.refusal', 'now >= guard.expires', 'now > guard.expires'],
  ['a request without an address is let through', 'guarding.refusal', 'return ADDRESS_WANTED', 'return nil'],
  ['addresses are compared by whole bytes only', 'is_allowed', '(whole == length or floor', '(true or floor'],
  [
    'an address refused leaves a last use',
    'admit',
    'guarding.refusal(guard, carried)\n      if refusal then',
    'guarding.refusal(guard, carried)\n      if refusal then\n        key.last_use, key.changed = now, true',
  ],
  [
    "a request that the key's rate refuses takes a place of the team's",
    'admit',
    "return too_fast('l', guard.rate, wait, guard)",
    "take_slot(id)\n        return too_fast('l', guard.rate, wait, guard)",
  ],
  ["the key's rate is off by one", 'guarding.wait', 'guard.total - guard.rate, 1', 'guard.total - guard.rate - 1, 1'],
  ["the key's window does not move with the clock", 'guarding.wait', 'if guard.newest > now and guard.total > 0 then', 'if false then'],
  [
    "a place of the key's ends a millisecond late",
    'guarding.wait',
    'age(guard, low) + RATE_WINDOW_MS - now)',
    'age(guard, low) + RATE_WINDOW_MS + 1 - now)',
  ],
  ["what is open of the key's does not count", 'guarding.is_used_up', 'used_by_key + guard.held + characters', 'used_by_key + characters'],
  [
    "the key's characters of an earlier period count",
    'guarding.is_used_up',
    'key.number == number and key.characters or 0',
    'key.characters',
  ],
  [
    "a settlement leaves what the key's reservation held",
    'resolve in resolve.lua',
    'if rare and rare.guards and reserved_in == number then',
    'if false then',
  ],
  [
    "a lease that ends leaves what the key's reservation held",
    'look in expiry.lua',
    'guarding.expire(open_key(record), characters)',
    'local _ = guarding',
  ],
  ['a limit that comes later does not count what is open', 'held_by', 'if held > 0 and held_in == number then', 'if false then'],
  [
    "the team's characters are judged for the key",
    'judge in admit.lua',
    "'Q' .. pack('>ddd', guard.characters, 0, ends)",
    "'Q' .. pack('>ddd', plan.character_limit, 0, ends)",
  ],
  ['the wider window is reported', 'admit', 'guard.rate - guard.total < left', 'guard.rate - guard.total > left'],
  ['revoking passes over keys with limits', 'statusByte', "key.status === 'revoked' ?", "key.status === 'revoked' && !isGuarded(key) ?"],
];

const SQLITE: readonly Bug[] = [
  [
    'a scope is found in the middle of another',
    'KeyGuard.refusal',
    'scopes.includes(scope) ?',
    'scopes.some((one) => one.includes(scope)) ?',
  ],
  [
    'a request without a scope is let through',
    'KeyGuard.refusal',
    "if (scope === undefined) return { kind: 'scope_wanted' };",
    'if (scope === undefined) return undefined;',
  ],
  ['a disabled key is let through', 'KeyGuard.refusal', 'if (this.disabled) return', 'if (this.disabled && nowMs < 0) return'],
  ['a key expires a millisecond late', 'KeyGuard.refusal', 'nowMs >= expiresAtMs', 'nowMs > expiresAtMs'],
  [
    'a request without an address is let through',
    'KeyGuard.refusal',
    "if (address === undefined) return { kind: 'address_wanted' };",
    'if (address === undefined) return undefined;',
  ],
  [
    'an address refused leaves a last use',
    'SqliteLedger.#callerRefusal',
    'if (barred !== undefined) return barred;',
    'if (barred !== undefined) this.#stamp(key, nowMs);\n    if (barred !== undefined) return barred;',
  ],
  [
    "a request that the key's rate refuses takes a place of the team's",
    'SqliteLedger.#callerRefusal',
    'if (guard !== undefined) this.#accounts.touchGuard(key);',
    'if (guard !== undefined) this.#accounts.touchGuard(key);\n    if (guard?.rateRefusal(nowMs) !== undefined) team.window.take(nowMs);',
  ],
  [
    "the key's rate is off by one",
    'KeyGuard.rateRefusal',
    'this.window.waitMsKept(limit, nowMs)',
    'this.window.waitMsKept(limit + 1, nowMs)',
  ],
  ["what is open of the key's does not count", 'keyRefusal', 'used + guard.held(team) + characters', 'used + characters'],
  [
    "the key's characters of an earlier period count",
    'keyRefusal',
    'counts.periodNo === team.periodNo ? counts.characters : 0',
    'counts.characters',
  ],
  [
    "a settlement leaves what the key's reservation held",
    'SqliteLedger.#settle',
    'if (key.guard !== undefined) this.#accounts.hold',
    'if (key.guard === undefined) this.#accounts.hold',
  ],
  [
    "a lease that ends leaves what the key's reservation held",
    'Periods.endLeases',
    'if (limitsKeys) this.#accounts.hold',
    'if (!limitsKeys) this.#accounts.hold',
  ],
  ['a limit that comes later does not count what is open', 'SQL.setLimits', 'iif($characters IS NULL, 0,', 'iif(true, 0,'],
  ['the wider window is reported', 'KeyGuard.nearer', 'remaining < rate.remaining', 'remaining > rate.remaining'],
];

/** Also found without a dedicated test, by the simulation. */
const IN_RUNS: readonly Bug[] = [
  [
    "a request that the key's rate refuses is remembered, and takes a place of the team's",
    'SqliteLedger.#callerRefusal',
    'if (guard !== undefined) this.#accounts.touchGuard(key);',
    'if (guard !== undefined) this.#accounts.touchGuard(key);\n    if (takesPlace && guard?.rateRefusal(nowMs) !== undefined) team.window.take(nowMs);',
  ],
  ["what is open of the key's does not count", 'keyRefusal', 'used + guard.held(team) + characters', 'used + characters'],
  ['who is asked for the address is refused instead', 'wantedBy', "kind === 'address_wanted' && address === undefined", "kind === ''"],
  [
    'the address is lost on the way to Redis',
    'writeAddress',
    'const bytes = addressBytes(address);',
    "const bytes = addressBytes(address.replace('10.', '11.'));",
  ],
];

/** Written once for all stores. */
const OF_CHANGES: readonly (readonly [name: string, where: string, find: string, replace: string, title?: string])[] = [
  [
    'a change of a limit loses the others',
    'update in key-registry.ts',
    'changedLimits(key.limits, change.limits ?? {})',
    'change.limits ?? {}',
  ],
  ['a revoked key can be enabled again', 'update in key-registry.ts', "key.status === 'revoked' ? 'revoked' : ", ''],
  [
    'what changes nothing is audited',
    'update in key-registry.ts',
    '  if (difference === undefined) return { result: key };\n',
    '',
    'nothing is recorded for',
  ],
];

export const KEY_LIMIT_MUTATIONS: readonly Mutation[] = [
  ...REDIS.map(([name, where, find, replace, ...more]) =>
    inRedis(`key limits: ${name}`, where, find, replace, contract('Redis', TITLE), ...more),
  ),
  ...SQLITE.map(([name, where, find, replace, ...more]) =>
    inSqlite(`key limits: ${name}`, where, find, replace, contract('SQLite', TITLE), ...more),
  ),
  ...OF_CHANGES.map(([name, where, find, replace, title = TITLE]): Mutation => ({
    name: `key limits in every store: ${name}`,
    edits: [{ where, find, replace }],
    caughtBy: [contract('Redis', title), contract('SQLite', title)],
  })),
  ...IN_RUNS.map(([name, where, find, replace]): Mutation => ({
    name: `key limits in runs: ${name}`,
    edits: [{ where, find, replace }],
    caughtBy: [SIMULATED],
  })),
  {
    name: 'key limits: SQLite: a key may hold less than nothing',
    edits: [
      {
        where: 'KeyGuard.hold',
        find: 'Math.max(0, Math.min(before + characters, team.heldCharacters))',
        replace: 'Math.min(before + characters, team.heldCharacters)',
      },
    ],
    caughtBy: [{ file: 'test/unit/stores/sqlite/key-guard.test.ts' }],
  },
  {
    name: "key limits: callers are told that the team's limit refused what the key's did",
    edits: [
      {
        where: 'PendingAdmission.#refusalOf',
        find: 'limitOf = quotaKind(admission.of, admission.window)',
        replace: "limitOf = quotaKind('team', admission.window)",
      },
    ],
    caughtBy: [{ file: 'test/journey/key-limits.test.ts', names: 'whose limit it was' }],
  },
  {
    name: 'key limits: an IPv4 address within IPv6 is another address',
    edits: [{ where: 'addressBytes', find: 'return isMapped(whole) ? whole.subarray(-IPV4_BYTES) : whole;', replace: 'return whole;' }],
    caughtBy: [{ file: 'test/unit/domain/key-limits.test.ts' }, contract('Redis', TITLE), contract('SQLite', TITLE)],
  },
];
