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
    name: 'Lua: an id is admitted again',
    file: `${LUA}/admit.lua`,
    find: 'return until_ms > now and REPEATED or nil',
    replace: 'return nil',
    part: 'settled ids',
  },
  {
    name: 'Lua: a 429 takes a slot',
    file: `${LUA}/admit.lua`,
    find: "return too_fast('L', rate, wait, guard)",
    replace: "take_slot(id) return too_fast('L', rate, wait, guard)",
    part: 'request rate',
  },
  {
    name: 'Lua: the last use goes back with the clock',
    file: `${LUA}/admit.lua`,
    find: 'if key.last_use < now then',
    replace: 'if true then',
    part: 'a clock that steps back',
  },
  {
    name: 'Lua: open reservations are not counted',
    file: `${LUA}/admit.lua`,
    find: 'used + held + characters >',
    replace: 'used + characters >',
    part: 'quota',
  },
  {
    name: 'Lua: credit that is held is spent again',
    file: `${LUA}/admit.lua`,
    find: 'if micro > balance - held_micro then',
    replace: 'if micro > balance then',
    part: 'credit',
  },
  {
    name: 'Lua: a part has the price of all',
    file: `${LUA}/resolve.lua`,
    find: 'part, part == 0 and 0 or micro / characters * part',
    replace: 'part, micro',
    part: 'partial charges',
  },
  {
    name: 'Lua: what was reserved in a period is charged to the next',
    file: `${LUA}/resolve.lua`,
    find: 'if reserved_in ~= number then',
    replace: 'if false then',
    part: 'periods',
  },
  {
    name: 'Lua: what is released stays held',
    file: `${LUA}/state.lua`,
    find: 'held = held - characters',
    replace: 'held = held',
    part: 'settlement',
  },
  {
    name: 'Lua: the rate is one request too many',
    file: `${LUA}/window.lua`,
    find: 'length + taken - rate',
    replace: 'length + taken - rate - 1 ',
    part: 'request rate',
  },
  {
    name: 'Lua: a record that has changed since it was read is changed',
    file: `${LUA}/records.lua`,
    find: "return call('HGET', beside(team, name), id) == value",
    replace: 'return true',
    part: 'glossaries',
  },
  {
    name: 'Lua: credit is withdrawn that reservations hold',
    file: `${LUA}/teams.lua`,
    find: 'if add < 0 and team.balance + add < held then',
    replace: 'if add < 0 and team.balance + add < 0 then',
    part: 'credit: credit can be withdrawn',
  },
  {
    name: 'SQL: what was settled is held again once an account is read',
    file: `${SQL}/sqlite-accounts.ts`,
    find: 'JOIN keys k ON k.no = o.key WHERE o.team = ? AND o.state = ${OPEN}`',
    replace: 'JOIN keys k ON k.no = o.key WHERE o.team = ?`',
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
    name: 'SQL: a period has the plan after it',
    file: `${SQL}/sqlite-accounts.ts`,
    find: "endPeriod: 'UPDATE periods SET end_ms = ?, plan = ?, limits = ? WHERE team = ? AND no = ?'",
    replace: "endPeriod: 'UPDATE periods SET end_ms = ?, plan = ?, limits = ? WHERE team = ? AND no <= ?'",
    part: 'usage by period',
  },
];
