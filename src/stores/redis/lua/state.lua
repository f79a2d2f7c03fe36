-- The open account: one team at a time, read once, brought up to date, changed by its operations and written once. It is kept
-- in local variables, because members of a table would make an admission cost half as much again.
--@ uses constants: DONE
--@ uses shared: call, max, insert, pack, unpack
--@ uses layout: beside
--@ uses team: teams, closed_periods
--@ gives now, today, remembered_until, team_key, team_names, allowance_field, windows_field, windowed, tagged_field
--@ gives plan, number, starts, ends, used, balance
--@ gives books_changed, keys, head, held
--@ gives held_micro, held_in, newest, late, expires, current, previous, length, passed, oldest, shortest, head_changed, ids_key
--@ gives slots_key, records, single, single_record, running, left_over, fields, written, rare, longest_lease, shortest_lease
--@ gives key_beside, rarely, put_record, done_now, DONE_NOW, forget_record, look_later, left_period, close_reservation

local now, today
-- Until when an id resolved now is remembered.
local remembered_until
-- The team (layout.lua): its key, plan, and books.
local team_key, plan, number, starts, ends, used, balance, books_changed
-- The names of the team's other keys (account.lua), and what is to be read with its next account; the fields `allowance` and `c` as
-- they were read with this one: nil if it was not, false if there is none.
local team_names, allowance_field, windows_field
-- From how many fields counts of windows were read (windows.lua).
local windowed
-- The field `g`: nil if no operation has a tag, false if no tag of the team has settings.
local tagged_field
-- By key: its state and counts, false if the team has no such key.
local keys = {}
-- The head, as its bytes and decoded (layout.lua); `held_in` is the period that `held` belongs to.
local head, held, held_micro, held_in, newest, late, expires, current, previous, length, passed, oldest, shortest
local head_changed
local ids_key, slots_key
-- The record of each id, as bytes, false for none. An account with a single operation has its index and its record here instead,
-- unless other ids are looked at as well.
local records, single, single_record = {}, nil, nil
-- The team of the call that is being run; whether `records` and `keys` still have entries of another account.
local running, left_over
-- `fields` up to `written` are to be written.
local fields, written = { 'h' }, 0
-- What few accounts have, in one table, so that all others pay for a single test; nil if there is nothing. Members:
-- - `look_at`: by id, when to check it again, false for never; `dropped`: ids that are deleted
-- - `use`: counts of earlier periods to write; `credit`: what changed the balance in this one; `days`: the days of keys
-- - `guards`: the limits of keys (guards.lua); `moved`: the rate window in memory, once its slots were moved (window.lua)
-- - `allowance`: what test keys use for nothing; `tests`: by key, whether it is a test key (allowance.lua)
-- - `tagged`: what is used of the settings of tags (tag_limits.lua)
-- - `refusals`: the events of refusals to write; `reported`: what they are for (told.lua)
local rare
-- The longest lease of the reservations made in this call, and the shortest of those without an entry in `:late`.
local longest_lease, shortest_lease

-- Another key of the team.
local function key_beside(name)
  return beside(team_key, name)
end

local function rarely(name)
  rare = rare or {}
  rare[name] = rare[name] or {}
  return rare[name]
end

local function put_record(id, record)
  local at = written + 2
  fields[at - 1], fields[at], written = id, record, at
  if not single then
    records[id] = record
  end
end

-- Records of ids that are resolved now, by state: made once for all teams of a call.
local done_now
local DONE_NOW = {
  __index = function(made, kind)
    made[kind] = pack(DONE, kind, remembered_until)
    return made[kind]
  end,
}

local function forget_record(id)
  records[id] = false
  insert(rarely('dropped'), id)
end

local function look_later(id, at_ms)
  rarely('look_at')[id] = at_ms
end

-- Counts of an earlier period; none if it was not kept, because nothing was charged or held in it.
local function left_period(left)
  local use = rarely('use')
  local counts = use[left]
  if not counts then
    counts = {}
    local stored = call('HMGET', teams.use_key(team_key, left), unpack(closed_periods.COUNTS))
    for i, name in ipairs(closed_periods.COUNTS) do
      counts[name] = tonumber(stored[i] or nil)
    end
    use[left] = counts
  end
  return counts
end

local function close_reservation(characters, micro, reserved_in)
  held_micro = held_micro - micro
  -- Characters held in an earlier period do not count in this one; the earlier period closes when nothing is held in it.
  if reserved_in == number then
    held = held - characters
  else
    local counts = left_period(reserved_in)
    counts.open = counts.open and max(0, counts.open - characters)
  end
end
