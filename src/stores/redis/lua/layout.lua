-- A team's data. The formats of its rows are constants from row-formats.ts. Integers are doubles if they may be large, otherwise as
-- wide as necessary.
-- - `:team` hash: `p` the plan's numbers; `b` the books of the period, `credit` what changed its balance and `allowance` what test
--   keys use for nothing (team.lua); `k<key>` a key's status, last use and counts; for a key
--   with limits or a disabled one `l:<key>` its limits, and `w:<key>` the counters for them; what events have reported: `t`
--   (outbox.lua), and `n:<key>` of refusals by a key's own limit (told.lua); `c` and `c:<key>`
--   what is used of limits by minute to month (windows.lua); `g` how many tags have settings, absent for none (tag_limits.lua); texts
-- - `:ids` hash: `h` the head; for each request id that is open or remembered, its record
-- - `:places` list: the slots of the rate window, each with its time and request id, newest last
-- - `:late` sorted set: ids that have to be checked again, by time; absent if there are none
-- - `:days` hash: each key's usage by day (days.lua)
--@ uses constants: REMEMBER_MS, KEY_LIMITS_BYTES, OPEN_BYTES, SLOT_BYTES, TICKETS_BYTES, TAGGED_BYTES
--@ uses shared: sub, byte
--@ gives ACTIVE, GUARDED, SCOPE, DAY_MS, OPEN_KEY, OPEN_HELD_AT, IS_OPEN, IS_COMMITTED, IS_RELEASED, IS_EXPIRED
--@ gives IS_OPEN_COUNTED, IS_OF_ALLOWANCE, IS_TAGGED, SLOT_ID, NEVER, LONGEST, LOOK_MS, HELD, beside, open_key, lists_of

-- A key's status; 0 is revoked, and 3 one with limits that include scopes. Versions without limits treat a key with limits as
-- revoked, versions without scopes one with scopes.
local ACTIVE = 1
local GUARDED = 2
-- Begins each scope in a key's limits, where a range has the length of its prefix.
local SCOPE = 255
local DAY_MS = 86400000
-- Where the key follows in the row of an open reservation, and where what it holds begins.
local OPEN_KEY = OPEN_BYTES + 1
local OPEN_HELD_AT = 2
-- The states of an id.
local IS_OPEN = 0
local IS_COMMITTED = 1
local IS_RELEASED = 2
local IS_EXPIRED = 3
-- Open, and counted in windows; its tickets are where the key would follow. Plus 8 if it is of the allowance for test keys,
-- and 16 if its tag follows the key.
local IS_OPEN_COUNTED = 4
local IS_OF_ALLOWANCE = 8
local IS_TAGGED = 16
-- Where its id follows in a slot.
local SLOT_ID = SLOT_BYTES + 1

-- In the head: no time, no lease.
local NEVER = 281474976710655
local LONGEST = 4294967295

-- An id is checked when its slot is this old: what is settled within five seconds can be deleted by then. A lease that ends
-- earlier has an entry in `:late` from the start.
local LOOK_MS = REMEMBER_MS + 5000

-- What a glossary holds (`:pairs`): "<source>|<target>:<dictionary>" of each dictionary, separated by spaces
-- (stores/records/glossary-record.ts). The pattern splits one.
local HELD = '([^ :]+):([^ ]+)'

-- The key of an open reservation.
local function open_key(record)
  local state = byte(record)
  local first = state % IS_OF_ALLOWANCE ~= IS_OPEN and OPEN_KEY + TICKETS_BYTES or OPEN_KEY
  return sub(record, first, state >= IS_TAGGED and -1 - TAGGED_BYTES - byte(record, -1) or -1)
end

local function beside(team_key, name)
  return sub(team_key, 1, -5) .. name
end

-- A key's scopes and its ranges, as bytes, from its limits.
local function lists_of(limits)
  local first = KEY_LIMITS_BYTES + 1
  local at = first
  while byte(limits, at) == SCOPE do
    at = at + 2 + byte(limits, at + 1)
  end
  return sub(limits, first, at - 1), sub(limits, at)
end
