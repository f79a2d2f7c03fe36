-- A team's data as bytes. Whole numbers are doubles where they may be large, otherwise as wide as they have to be.
-- `:team`   hash: `p` the plan's numbers, `b` the books of the period, `k<key>` a key's status, last use and counts; of a key that
--           is held to something or disabled `l:<key>` to what, and `w:<key>` what is counted for that; texts
-- `:ids`    hash: `h` the head, and per request id that is open or remembered how it stands
-- `:places` list: when and by which id a place in the rate window was taken, the newest last
-- `:late`   sorted set: ids that are to be looked at again, by when; absent while there are none
-- `:days`   hash: what each key was used for by day (days.lua)

-- Period's number, its start and end, characters used in it, and the balance.
local BOOKS = '>ddddd'
-- Its status, its last use (0 for never), the number, characters and requests of the period it was used in last, and the
-- day that these were last counted on, 0 when the key's days have all of them. What versions before the days wrote ends before it:
-- the day of the last use stands for it.
local KEY, KEY_BYTES = '>BddddI3', 36
-- Its status; 0 is revoked. Versions that know no limits take a key that has some for a revoked one.
local ACTIVE, GUARDED = 1, 2
-- Its limits: whether it is disabled, when it expires, its requests per second, its characters of a period, 0 for no such limit; then
-- ranges. What is counted for them: what its reservations hold in the period of this number, kept while its characters are limited;
-- then its rate window: the time of the newest place, the same as it stands there, how many places there are, and these (guards.lua).
local KEY_FORMS = { limits = '>Bddd', limits_bytes = 25, counts = '>I4I7I6I2I3', counts_bytes = 22 }
local DAY_MS = 86400000
-- An open reservation: characters, micro, number of its period, end of its lease; its key follows.
local OPEN = '>Bdddd'
local OPEN_KEY = 34
-- A resolved id: its state, and until when it is remembered.
local DONE = '>BI6'
local IS_OPEN, IS_COMMITTED, IS_RELEASED, IS_EXPIRED = 0, 1, 2, 3
-- A place: its time; its id follows.
local PLACE = '>I6'
local PLACE_ID = 7

-- The head: held characters of the period `number`, held micro of all; time of the newest place; when something in `:late`
-- is to be looked at; until when the keys are kept; places taken in the calendar second of the newest and in the one before;
-- places in the list, and how many of them, from the oldest, have been looked at; time of the first that has not; the
-- shortest lease among those.
local HEAD = '>I7I7I4I6I6I6I4I4I4I4I6I4'
-- Only the first two.
local HEAD_HELD = '>I7I7'
local NEVER = 281474976710655
local LONGEST = 4294967295

-- An id is looked at when its place is this old: what is settled within five seconds can be forgotten by then. A lease that
-- ends earlier has an entry in `:late` from the start.
local LOOK_MS = REMEMBER_MS + 5000
-- At least and at most so many ids are looked at together: fewer are not worth a read, more would keep other teams waiting.
local LOOK_MIN, LOOK_MAX = 32, 128

-- What a glossary holds (`:pairs`): "<source>|<target>:<dictionary>" of each dictionary, with spaces between them; without
-- ":<dictionary>" the one that has the glossary's own id. The pattern takes one apart, with '' for an id left out.
local HELD = '([^ :]+):?([^ ]*)'

-- A key's record with its day, whoever wrote it; most have one.
local function with_day(packed)
  if #packed < KEY_BYTES then
    return packed .. pack('>I3', floor(parse('>d', packed, 2) / DAY_MS))
  end
  return packed
end

local function beside(team_key, name)
  return sub(team_key, 1, -5) .. name
end
