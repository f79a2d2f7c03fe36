-- The ledger in Redis: admits requests and settles what they reserved, for many teams in one call. These files are concatenated in the
-- order of function-library.ts; each can be read alone after this one.
--
-- A team is the hash lingate:{TEAM}, which HGETALL explains. Every value is JSON, written by the registry (driver) or by the ledger (Lua):
--
--   team                  the registry's record: plan, limits, reference, a plan that waits
--   period                the one that runs: number, startMs, endMs, anchorMs, and what was added to the balance and deducted in it
--   balance               of a team on credit: micro, and what open reservations hold of it
--   used                  what the team has used and holds in the period of that number; `testUsed` and `testHeld` of that are of the
--                         allowance for test keys, as are reservations and charges with `ofAllowance`
--   key:ID                the registry's record of a key
--   used:ID               what a key has used and holds in the period of that number, and when it was used last
--   tag:NAME              the settings of a tag
--   windows:WHO           what WHO (team, key:ID, tag:NAME) has used by minute to month: requests that passed rule 3, characters that are
--                         charged or held; of a tag in the period, too
--   open:REQUEST          a reservation: key, characters, price, period, until when its lease lasts, and what it is counted in
--   lease                 no lease ends before this moment
--   keys, once:ID         how many keys were made; a change of the team that is remembered by its id
--   deleted               a team that was deleted, as long as anything of it is left
--
-- and beside it, in the same slot, lingate:{TEAM}:slots:WHO, a list of when the last requests passed rule 3, :days, what was charged by
-- day, period and key, and a hash for each table of the record space.
--
-- What seldom happens is no matter of Lua: where a period or a lease has ended, or the bounds of windows are of another minute, the answer
-- is `look`, and nothing is written. The driver then loads the account, does what is due, if anything is, writes it by `change`
-- (change.lua), and asks again, with the bounds of now.

local SECOND_MS = 1000
local HOUR_MS = 3600000
local DAY_MS = 86400000
local MICRO_PER_MINOR = 1000000

-- Redis offers these to a function that runs, not to the library while it is loaded: so `turn` sets them, for what it calls. What is
-- registered beside it (`change`, `read`, `list_team`) has its own.
local call, format, floor, max, min

-- 'requests=600/minute characters=1000000/day' as { { per, requests?, characters? }, … }, the shortest window first, each by its name, too;
-- nil for none.
local function listed_windows(text)
  local list = {}
  for counts, most, per in string.gmatch(text or '', '(%l+)=(%d+)/(%l+)') do
    if not list[per] then
      list[per] = { per = per }
      list[#list + 1] = list[per]
    end
    list[per][counts] = tonumber(most)
  end
  return #list > 0 and list or nil
end

-- Records are shared by many requests: each text is decoded once, and the `windows` of its limits become a list. What is decoded here must
-- not be changed.
local decoded, decoded_count = {}, 0

local function decode(text)
  local value = decoded[text]
  if value == nil then
    if decoded_count >= 5000 then
      decoded, decoded_count = {}, 0
    end
    value = cjson.decode(text)
    if type(value) == 'table' then
      local limits = value.limits or value
      limits.windows = listed_windows(limits.windows)
    end
    decoded[text], decoded_count = value, decoded_count + 1
  end
  return value
end

-- Counters and reservations change with each request. What was written of a team last is known by its field, and need not be decoded while
-- it is still what is stored; whoever takes it may change it.
local written, written_count = {}, 0

local function take(team_key, field, text)
  local of_team = written[team_key]
  local value = of_team and of_team[field]
  if value and value.text == text then
    of_team[field] = nil
    return value
  end
  return cjson.decode(text)
end

-- Adds a field to `writes`, which go to the hash of the team `writes.to`.
local function write(writes, field, text, value)
  local n, to = #writes, writes.to
  writes[n + 1], writes[n + 2] = field, text
  if value then
    if written_count >= 10000 then
      written, written_count = {}, 0
    end
    written_count, written[to] = written_count + 1, written[to] or {}
    written[to][field], value.text = value, text
  end
end

-- The time by which a call goes: its server's, corrected if that is wrong, or the one that tests control; and whether it is overdue. What is
-- early by more than an hour is overdue, too, because then a clock has stepped. What is overdue does nothing.
local function time_of(asked)
  local now = asked.clock
  if not now then
    local time = redis.call('TIME')
    now = time[1] * SECOND_MS + math.floor(time[2] / SECOND_MS) + (asked.correction or 0)
  end
  return now, now > asked.deadline or asked.deadline - now > HOUR_MS
end

-- What the team, or a key, has used and holds in the period of this number. `requests` are those that were charged.
local function counter_of(team_key, field, text, number)
  local one = text and take(team_key, field, text)
  if one and one.period == number then
    return one
  end
  return { period = number, used = 0, held = 0, requests = 0, atMs = one and one.atMs }
end

local function write_counter(writes, field, one)
  -- A key's has the time, the team's what is of the allowance, none has both.
  local form = '{"period":%d,"used":%d,"held":%d,"requests":%d}'
  if one.atMs then
    form = '{"period":%d,"used":%d,"held":%d,"requests":%d,"atMs":%d}'
  elseif one.testUsed then
    form = '{"period":%d,"used":%d,"held":%d,"requests":%d,"testUsed":%d,"testHeld":%d}'
  end
  write(writes, field, format(form, one.period, one.used, one.held, one.requests, one.atMs or one.testUsed, one.testHeld), one)
end

local function write_balance(writes, balance)
  write(writes, 'balance', format('{"micro":%d,"held":%d}', balance.micro, balance.held), balance)
end
