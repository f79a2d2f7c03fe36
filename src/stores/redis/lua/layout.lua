-- What is kept of a team, as bytes. Whole numbers are doubles where they may be large, else as wide as they have to be.
-- `:team`   hash: `p` the plan's numbers, `b` the books of the period, `k<key>` a key's status, last use and counts; texts
-- `:ids`    hash: `h` the head, and per request id that is open or remembered how it stands
-- `:places` list: when and by which id a place in the rate window was taken, the newest last
-- `:late`   sorted set: ids that are to be looked at again, by when; absent while there are none

-- Period's number, its start and end, characters used in it, and the balance.
local BOOKS = '>ddddd'
-- Whether it is active, its last use (0 for never), and the number, characters and requests of the period it was used in last.
local KEY = '>Bdddd'
-- An open reservation: characters, micro, number of its period, end of its lease; its key follows.
local OPEN = '>Bdddd'
-- An id that stands finally, and until when that is remembered.
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
-- What is held, alone.
local HEAD_HELD = '>I7I7'
local BEHIND_HELD = 15
local NEVER = 281474976710655
local LONGEST = 4294967295

-- Ids are looked at when their place is so old: long enough for what is settled within seconds to be forgotten by then.
-- A lease that ends earlier has its entry in `:late` from the start.
local LOOK_MS = REMEMBER_MS + 5000
-- That many at a time are worth the trouble; more than so many at once would keep other teams waiting.
local LOOK_MIN, LOOK_MAX = 32, 128
-- How much longer than needed keys are kept, so that they are renewed about once a minute.
local SPARE_MS = 60000
-- From so many places on the hash of ids is made to use a table: one value that is too long for a list of fields does it.
local WIDE_FROM = 32
local WIDE = '-----------------------------------------------------------------'

-- What a glossary holds (`:pairs`): "<source>|<target>:<dictionary>" of each dictionary, with spaces between them; without
-- ":<dictionary>" the one that has the glossary's own id. The pattern takes one apart, with '' for an id left out.
local HELD = '([^ :]+):?([^ ]*)'

local function beside(team_key, name)
  return sub(team_key, 1, -5) .. name
end

-- Whether places are to be looked at, by variables of these names: `oldest` that has not been, how many are `unlooked`, and the
-- `newest`.
local IS_WORTH_LOOKING = now - LOOK_MS > oldest and (now - LOOK_MS - oldest) * unlooked >= LOOK_MIN * (newest - oldest + 1)
