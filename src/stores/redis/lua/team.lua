-- A team's record: its plan, its keys' states, and its period. Lua has no calendar: a function that finds the period ended asks
-- the driver for the bounds of the next one.

local teams = {}

do
  -- Keyed by number rather than start: a period of a different length may start when the one before it did.
  function teams.use_key(team_key, number)
    return beside(team_key, 'use:' .. digits(number))
  end

  -- Arguments 3 to 6: the bounds of a period that the driver computed, and what it computed them from (the length, and the anchor
  -- from which the team's periods are counted); all '' if it was not asked.
  function teams.read_offer()
    return { starts = tonumber(text_at(3)), ends = tonumber(text_at(4)), length = text_at(5), anchor = tonumber(text_at(6)) }
  end

  local function fits(offer, anchor, length, now)
    if not offer.ends or offer.length ~= length or offer.anchor ~= anchor or now >= offer.ends then
      return false
    end
    -- A time before the anchor belongs to the first period.
    return now >= offer.starts or offer.starts == anchor
  end

  function teams.ask_for_bounds(now, anchor, length)
    return { now, 'period', digits(anchor), length }
  end

  -- A team's plan and counts, and what its periods are computed from; nil if there is no team. `use` collects the counts of
  -- earlier periods. Periods are counted from `anchor`: the last change of their length, or the team's creation.
  function teams.read(team_key)
    local got = call('HMGET', team_key, 'p', 'b', 'created', 'period', 'currency', 'anchor')
    if not got[1] or not got[2] then
      return nil
    end
    local team = { key = team_key, plan = read_plan(got[1]), anchor = tonumber(got[6] or got[3]), length = got[4], currency = got[5], use = {} }
    team.number, team.starts, team.ends, team.used, team.balance = parse(BOOKS, got[2])
    return team
  end

  -- What the driver reads a team from (team-codec.ts); false for what it does not have.
  teams.DESCRIBED = 8

  function teams.description(team_key)
    return call('HMGET', team_key, 'name', 'plan', 'created', 'period', 'currency', 'p', 'b', 'reference')
  end

  -- Ends the team's period and begins the offered one. The ended period's counts, bounds and plan are stored if anything was or
  -- may still be charged in it: `open` characters are reserved in it, all of which expire by `over`.
  function teams.begin_period(team, offer)
    -- The key should not exist yet; if it has the wrong type, the function fails before anything is written.
    call('HLEN', teams.use_key(team.key, team.number))
    local head, open, expires = call('HGET', beside(team.key, 'ids'), 'h'), 0, 0
    if head then
      local held, _, held_in, _, _, until_ms = parse(HEAD, head)
      open, expires = held_in == team.number and held or 0, until_ms
    end
    if team.used > 0 or open > 0 then
      local kept = call('HMGET', team.key, 'plan', 'p', 'currency')
      team.use[team.number] = {
        characters = team.used, starts = team.starts, ends = max(team.starts, min(team.ends, offer.starts)), length = team.length,
        plan = kept[1], p = kept[2], currency = kept[3], open = open, over = expires,
      }
      if events.rules then
        team.use[team.number].told = events.last_percent(call('HGET', team.key, 't'), team.number)
      end
    end
    team.number, team.starts, team.ends, team.used = team.number + 1, offer.starts, offer.ends, 0
    team.changed = true
  end

  -- Begins the offered period if the team's has ended; false if no matching one is offered.
  function teams.follow_period(team, offer, now)
    if now < team.ends then
      return true
    end
    if not offer or not fits(offer, team.anchor, team.length, now) then
      return false
    end
    -- By the calendar it may have begun before the team's period ended, if that one was computed differently.
    offer.starts = max(offer.starts, team.ends)
    teams.begin_period(team, offer)
    return true
  end

  function teams.books(team)
    return pack(BOOKS, team.number, team.starts, team.ends, team.used, team.balance)
  end

  function teams.write_use(team_key, use)
    for number, counts in pairs(use) do
      local fields, key = {}, teams.use_key(team_key, number)
      for name, count in pairs(counts) do
        insert(fields, name)
        insert(fields, type(count) == 'number' and digits(count) or count)
      end
      if #fields > 0 then
        call('HSET', key, unpack(fields))
      end
    end
  end
end

-- Closed periods, in `:periods`: start, end and characters; then the plan's numbers, its name, the currency and the period's
-- length.
local closed_periods = {}

do
  local CLOSED = '>I6I6I7Bc0Bc0Bc0Bc0'
  local CLOSED_ENDS, CLOSED_ENDS_AT, CLOSED_BOUNDS = '>I6', 7, '>I6I6I7'

  -- Called when a period is final, once for each with any usage, with its record; the same call makes the writes.
  function closed_periods.keep(team_key, of, record, at_ms)
    call('HSET', beside(team_key, 'periods'), digits(of), record)
    local starts, _, characters = parse(CLOSED_BOUNDS, record)
    local id = events.team_of(team_key) .. '-period-' .. digits(starts) .. '-' .. digits(of) .. '-' .. digits(characters)
    events.keep(team_key, id, at_ms, 'period', { digits(of), record })
  end

  -- Converts a hash from Redis, which is a list, to a table by name.
  function closed_periods.named(fields)
    local by = {}
    for i = 1, #fields, 2 do
      by[fields[i]] = fields[i + 1]
    end
    return by
  end

  -- The record of an ended period.
  function closed_periods.record(counts, length)
    local numbers, plan_name, currency = counts.p, counts.plan, counts.currency
    return pack(CLOSED, tonumber(counts.starts), tonumber(counts.ends), tonumber(counts.characters), #numbers, numbers, #plan_name,
      plan_name, #currency, currency, #length, length)
  end

  -- Deletes the periods that ended before this time.
  function closed_periods.drop(key, before_ms)
    local dropped, closed = {}, call('HGETALL', key)
    for i = 1, #closed, 2 do
      if parse(CLOSED_ENDS, closed[i + 1], CLOSED_ENDS_AT) < before_ms then
        insert(dropped, closed[i])
      end
    end
    call_in_pieces('HDEL', key, dropped)
  end
end
