// Bugs that only text can have: edits of Lua and SQL, each of which the contract of stores must notice.

export interface TextEdit {
  readonly name: string;
  readonly file: string;
  /** Must occur in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** A part of the contract. */
  readonly part: string;
}

const LUA = 'src/stores/redis/lua';
const SQL = 'src/stores/sqlite';

export const TEXT_EDITS: readonly TextEdit[] = [
  {
    name: 'Lua: a 429 takes a slot',
    file: `${LUA}/admit.lua`,
    find: 'if refusal or op.check then',
    replace: 'if refusal then take_slot(subjects[1].slots, subjects[1].rate, moment) end\n  if refusal or op.check then',
    part: 'request rate',
  },
  {
    name: 'Lua: the last use goes back with the clock',
    file: `${LUA}/admit.lua`,
    find: 'use.atMs = max(use.atMs or 0, now)',
    replace: 'use.atMs = now',
    part: 'a clock that steps back',
  },
  {
    name: 'Lua: open reservations are not counted',
    file: `${LUA}/admit.lua`,
    find: 'of_team.used + of_team.held - of_tests',
    replace: 'of_team.used - of_tests',
    part: 'quota',
  },
  {
    name: 'Lua: credit that is held is spent again',
    file: `${LUA}/admit.lua`,
    find: 'holding.balance.micro - holding.balance.held',
    replace: 'holding.balance.micro',
    part: 'credit',
  },
  {
    name: 'Lua: a part has the price of all',
    file: `${LUA}/settle.lua`,
    find: 'reserved > 0 and held.priceMicro / reserved * charged or 0',
    replace: 'held.priceMicro',
    part: 'partial charges',
  },
  {
    name: 'Lua: what was reserved in a period is charged to the next',
    file: `${LUA}/settle.lua`,
    find: 'if held.period == period.number then',
    replace: 'if true then',
    part: 'periods',
  },
  {
    name: 'Lua: what is released stays held',
    file: `${LUA}/settle.lua`,
    find: 'one.held - reserved',
    replace: 'one.held',
    part: 'limits: team: characters',
  },
  {
    name: 'Lua: the rate is one request too many',
    file: `${LUA}/slots.lua`,
    find: "local at = call('LINDEX', list, -rate)",
    replace: "local at = call('LINDEX', list, -rate - 1)",
    part: 'request rate',
  },
  {
    name: 'Lua: a record that has changed since it was read is changed',
    file: `${LUA}/change.lua`,
    find: "if redis.call('HGET', keys[1] .. one[1], one[2]) ~= one[3] then",
    replace: 'if false then',
    part: 'glossaries',
  },
  {
    name: 'Lua: what was written here is believed after another has changed it',
    file: `${LUA}/ledger.lua`,
    find: 'if value and value.text == text then',
    replace: 'if value then',
    part: 'what invoices need of periods',
  },
  {
    name: 'Lua: an id that is open is admitted anew',
    file: `${LUA}/admit.lua`,
    find: 'if got[4] and not op.check then',
    replace: 'if false then',
    part: 'open ids',
  },
  {
    name: 'SQL: what was settled is held again once an account is read',
    file: `${SQL}/sqlite-accounts.ts`,
    find: "'DELETE FROM operations WHERE request_id = ? AND team = ?'",
    replace: "'DELETE FROM operations WHERE request_id = ? AND team = -?'",
    part: 'concurrency and further instances',
  },
  {
    name: 'SQL: a charge replaces the ones before it',
    file: `${SQL}/sqlite-accounts.ts`,
    find: 'SET characters = characters + excluded.characters',
    replace: 'SET characters = excluded.characters',
    part: 'usage by day',
  },
  {
    name: 'SQL: periods are counted from another moment once an account is read',
    file: `${SQL}/sqlite-accounts.ts`,
    find: 'UPDATE teams SET record = ?, period = ? WHERE no = ?',
    replace: "UPDATE teams SET record = ?, period = json_set(?, '$.anchorMs', 0) WHERE no = ?",
    part: 'plan changes',
  },
];
