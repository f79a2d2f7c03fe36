-- A team's record: its plan, its keys' states, and its period.
-- Lua has no calendar: a function that finds the period ended asks the driver for the bounds of the next one.

-- Counts by number, not by start: a period of another length may start where the one before it did.
local function use_key(team_key, number)
  return beside(team_key, 'use:' .. digits(number))
end

local function read_key_record(packed, number)
  local active, last_use, of, characters, requests = parse(KEY, packed)
  if of ~= number then
    characters, requests = 0, 0
  end
  return { active = active, last_use = last_use, characters = characters, requests = requests, changed = false }
end

-- How long the counts of a period are kept after it was left.
local USE_KEPT_MS = 400 * 86400 * 1000

-- Arguments 3 to 6: the bounds of a period that the driver computed, and what from (its length, and the moment from which the
-- team's periods are counted); all '' when it was not asked.
local function read_offer()
  return { starts = tonumber(text_at(3)), ends = tonumber(text_at(4)), length = text_at(5), anchor = tonumber(text_at(6)) }
end

local function fits(offer, anchor, length, now)
  if not offer.ends or offer.length ~= length or offer.anchor ~= anchor or now >= offer.ends then
    return false
  end
  -- A moment before the anchor counts as its first period.
  return now >= offer.starts or offer.starts == anchor
end

local function ask_for_bounds(now, anchor, length)
  return { now, 'period', digits(anchor), length }
end

-- A team's plan, counts, and what its periods are computed from; nil when there is none. `use` has the counts of earlier periods.
-- Periods are counted from the last change of their length, which is `anchor`, or from the team's creation.
local function read_team(team_key)
  local got = call('HMGET', team_key, 'p', 'b', 'created', 'period', 'currency', 'anchor')
  if not got[1] or not got[2] then
    return nil
  end
  local team = { key = team_key, plan = read_plan(got[1]), anchor = tonumber(got[6] or got[3]), length = got[4], currency = got[5], use = {} }
  team.number, team.starts, team.ends, team.used, team.balance = parse(BOOKS, got[2])
  return team
end

-- The settled counts of the period that is left, by name.
local function counts_of_period(team)
  local counts = { characters = team.used }
  local fields = call('HGETALL', team.key)
  for i = 1, #fields, 2 do
    if byte(fields[i]) == 107 then -- k
      local key, record = sub(fields[i], 2), read_key_record(fields[i + 1], team.number)
      if record.requests > 0 then
        counts[key .. ':c'], counts[key .. ':r'] = record.characters, record.requests
      end
    end
  end
  return counts
end

-- Leaves the team's period for the offered one. What it came to is kept with its bounds and the plan that held in it, if anything
-- was charged or may still be.
local function begin_period(team, offer)
  -- Read although it should not exist yet: if it has a wrong type the function fails here, before anything is written.
  call('HLEN', use_key(team.key, team.number))
  local counts, head = counts_of_period(team), call('HGET', beside(team.key, 'ids'), 'h')
  if counts.characters > 0 or (head and parse(HEAD_HELD, head) > 0) then
    local kept = call('HMGET', team.key, 'plan', 'p', 'currency')
    counts.starts, counts.ends = team.starts, min(team.ends, offer.starts)
    counts.plan, counts.p, counts.currency = kept[1], kept[2], kept[3]
    team.use[team.number] = counts
  end
  team.number, team.starts, team.ends, team.used = team.number + 1, offer.starts, offer.ends, 0
  team.changed = true
end

-- Begins the offered period if the team's has ended; false when no fitting one is offered.
local function follow_period(team, offer, now)
  if now < team.ends then
    return true
  end
  if not offer or not fits(offer, team.anchor, team.length, now) then
    return false
  end
  begin_period(team, offer)
  return true
end

local function books_of(team)
  return pack(BOOKS, team.number, team.starts, team.ends, team.used, team.balance)
end

local function write_use(team_key, use)
  for number, counts in pairs(use) do
    local fields, key = {}, use_key(team_key, number)
    for name, count in pairs(counts) do
      insert(fields, name)
      insert(fields, type(count) == 'number' and digits(count) or count)
    end
    call_in_pieces('HSET', key, fields)
    call('PEXPIRE', key, USE_KEPT_MS)
  end
end
