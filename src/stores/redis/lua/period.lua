-- The team's period. Calendars are the driver's: a script that finds the period ended asks for the bounds of the next one.

-- How long the counts of a period are kept after it was left.
local USE_KEPT_MS = 400 * 86400 * 1000

-- Arguments 3 to 6: bounds that the driver computed, and from what; all '' when it was not asked for any.
local function read_offer()
  return {
    starts = tonumber(text_at(3)),
    ends = tonumber(text_at(4)),
    length = text_at(5),
    created = tonumber(text_at(6)),
  }
end

local function fits(offer, created, length, now)
  if not offer.ends or offer.length ~= length or offer.created ~= created or now >= offer.ends then
    return false
  end
  -- A moment before the team's creation counts as its first period.
  return now >= offer.starts or offer.starts == created
end

local function ask_for_bounds(now, created, length)
  return { now, 'period', created, length }
end

-- Counts by number, not by start: a period of another length may start where the one before it did.
local function use_key(team_key, number)
  -- Cannot be declared in KEYS, since only the script knows the number; it shares the slot by its hash tag.
  return string.sub(team_key, 1, -5) .. 'use:' .. number
end

local function read_account(team_key)
  local got = call('HMGET', team_key, 'created', 'period', 'period_number', 'period_start', 'period_end', 'balance')
  if not got[1] then
    return nil
  end
  return {
    created = tonumber(got[1]), length = got[2], number = got[3], starts = tonumber(got[4]), ends = tonumber(got[5]),
    balance = tonumber(got[6]),
  }
end

-- `team` has number, starts, ends, length, created as stored. Turns it to the offered period; false when there is none that fits.
local function follow_period(team, offer, now)
  if now < team.ends then
    return true
  end
  if not fits(offer, team.created, team.length, now) then
    return false
  end
  team.left = team.number
  team.number, team.starts, team.ends = digits(team.number + 1), offer.starts, offer.ends
  return true
end

-- To be written in one HSET with whatever else changes in the team's record.
local function period_fields(team, fields)
  if team.left then
    append(fields, { 'period_number', team.number, 'period_start', digits(team.starts), 'period_end', digits(team.ends) })
  end
end

local function leave_period(team_key, team)
  if team.left then
    call('PEXPIRE', use_key(team_key, team.left), USE_KEPT_MS)
  end
end
