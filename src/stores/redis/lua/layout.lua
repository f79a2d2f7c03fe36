-- The formats of a team's data. Integers are doubles if they may be large, otherwise as wide as necessary.
-- - `:team` hash: `p` the plan's numbers; `b` the books of the period, `credit` what changed its balance (team.lua); `k<key>` a key's status, last use and counts; for a key
--   with limits or a disabled one `l:<key>` its limits, and `w:<key>` the counters for them; texts
-- - `:ids` hash: `h` the head; for each request id that is open or remembered, its record
-- - `:places` list: the slots of the rate window, each with its time and request id, newest last
-- - `:late` sorted set: ids that have to be checked again, by time; absent if there are none
-- - `:days` hash: each key's usage by day (days.lua)

-- The period's number, start and end, the characters used in it, and the balance.
local BOOKS = '>ddddd'
-- Its status, its last use (0 for never), the number, characters and requests of the last period it was used in, and the day of
-- the last count, 0 if the key's days include all counts. Records of versions without days lack the day; the day of the last
-- use is assumed.
local KEY, KEY_BYTES = '>BddddI3', 36
-- Its status; 0 is revoked. Versions without limits treat a key with limits as revoked.
local ACTIVE, GUARDED = 1, 2
-- A key's limits: whether it is disabled, its expiry, its requests per second, its characters per period, 0 for no such limit;
-- then its ranges. The counters for them: the period, the characters held in it, maintained only if characters are limited;
-- then its rate window: the time of the newest slot, that time in the entries' scale, the number of slots, and the entries
-- (guards.lua).
local KEY_FORMS = { limits = '>Bddd', limits_bytes = 25, counts = '>I4I7I6I2I3', counts_bytes = 22 }
local DAY_MS = 86400000
-- An open reservation: characters, micro, the number of its period, the end of its lease; then its key.
local OPEN = '>Bdddd'
local OPEN_KEY = 34
-- What it holds: its characters, micro and period.
local OPEN_HELD, OPEN_HELD_AT = '>ddd', 2
-- A resolved id: its state, and until when it is remembered. The record of an open one is longer.
local DONE, DONE_BYTES = '>BI6', 7
local IS_OPEN, IS_COMMITTED, IS_RELEASED, IS_EXPIRED = 0, 1, 2, 3
-- A slot: its time; then its request id.
local SLOT = '>I6'
local SLOT_ID = 7

-- The head: held characters of the period `number`, held micro of all periods; the time of the newest slot; when an id in
-- `:late` has to be checked; when the keys expire; the slots taken in the newest one's calendar second and in the one before;
-- the slots in the list, and how many of them, from the oldest, have been checked; the time of the first that has not; the
-- shortest lease among those.
local HEAD = '>I7I7I4I6I6I6I4I4I4I4I6I4'
-- Only the first two.
local HEAD_HELD = '>I7I7'
local NEVER = 281474976710655
local LONGEST = 4294967295

-- An id is checked when its slot is this old: what is settled within five seconds can be deleted by then. A lease that ends
-- earlier has an entry in `:late` from the start.
local LOOK_MS = REMEMBER_MS + 5000

-- What a glossary holds (`:pairs`): "<source>|<target>:<dictionary>" of each dictionary, separated by spaces
-- (stores/records/glossary-record.ts). The pattern splits one.
local HELD = '([^ :]+):([^ ]+)'

-- A key's record with its day, whichever version wrote it; most have one.
local function with_day(packed)
  if #packed < KEY_BYTES then
    return packed .. pack('>I3', floor(parse('>d', packed, 2) / DAY_MS))
  end
  return packed
end

local function beside(team_key, name)
  return sub(team_key, 1, -5) .. name
end
