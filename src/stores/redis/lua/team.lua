-- A team's record: its plan, its keys' states, and its period. Lua has no calendar: a function that finds the period ended asks
-- the driver for the bounds of the next one.
--@ uses constants: DESCRIPTION, BOOKS, HEAD, KEY, ALLOWANCE, CREDIT, CLOSED, CLOSED_MONEY
--@ uses shared: call, max, min, insert, unpack, pack, parse, text_at, digits, call_in_pieces, byte, sub
--@ uses layout: beside
--@ uses plan: read_plan
--@ uses outbox: events
--@ gives teams, closed_periods

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

  -- Whole units of an ISO 8601 duration, in months and in seconds.
  local DATE_UNITS = { Y = { 12, 0 }, M = { 1, 0 }, W = { 0, 604800 }, D = { 0, 86400 } }
  local TIME_UNITS = { H = { 0, 3600 }, M = { 0, 60 }, S = { 0, 1 } }

  local function length_of(text)
    local months, seconds = 0, 0
    local function add(part, units)
      for count, unit in string.gmatch(part or '', '(%d+)(%a)') do
        local each = units[unit] or { 0, 0 }
        months, seconds = months + count * each[1], seconds + count * each[2]
      end
    end
    local date, time = string.match(text, '^P([^T]*)T?(.*)$')
    add(date, DATE_UNITS)
    add(time, TIME_UNITS)
    return months, seconds
  end

  -- Compares durations, whose texts may differ: P7D is P1W. Ignores the suffix for how periods are counted, which has no digits.
  function teams.is_same_length(one, other)
    local months, seconds = length_of(one)
    local other_months, other_seconds = length_of(other)
    return one == other or months == other_months and seconds == other_seconds
  end

  -- A plan that waits for the end of the period (next-plan-codec.ts); `by` is '' if it is unknown who ordered it.
  local function read_next(packed)
    local plan, currency, length, p, by = parse('>I4c0I4c0I4c0I4c0I4c0', packed)
    return { plan = plan, currency = currency, length = length, p = p, by = by }
  end

  -- The anchor and the length from which the period after the current one is computed: those of the waiting plan, if there is one,
  -- which is counted from the end of the current period if its length differs.
  function teams.following(team)
    if not team.next then
      return team.anchor, team.length
    end
    return teams.is_same_length(team.next.length, team.length) and team.anchor or team.ends, team.next.length
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
    local got = call('HMGET', team_key, 'p', 'b', 'created', 'period', 'currency', 'anchor', 'credit', 'next')
    if not got[1] or not got[2] then
      return nil
    end
    local team = { key = team_key, plan = read_plan(got[1]), anchor = tonumber(got[6] or got[3]), length = got[4], currency = got[5], use = {} }
    team.number, team.starts, team.ends, team.used, team.balance = parse(BOOKS, got[2])
    team.credit = teams.read_credit(got[7])
    team.next = got[8] and read_next(got[8])
    return team
  end

  -- What the driver reads a team from (team-codec.ts); false for what it does not have.
  local described = {}
  for name in string.gmatch(DESCRIPTION, '%S+') do
    insert(described, name)
  end
  teams.DESCRIBED = #described

  function teams.description(team_key)
    return call('HMGET', team_key, unpack(described))
  end

  -- What was spent is the rest (domain/period-credit.ts), so that no settlement has to count it besides.
  function teams.read_credit(packed)
    local _, opening, added, deducted = parse(CREDIT, packed)
    return { opening = opening, added = added, deducted = deducted }
  end

  function teams.pack_credit(number, credit)
    return pack(CREDIT, number, credit.opening, credit.added, credit.deducted)
  end

  -- What test keys have used and hold of the plan's allowance in the period `number`, and whether a refusal for it was reported.
  function teams.read_allowance(packed, number)
    local of, used, held, told = 0, 0, 0, 0
    if packed then
      of, used, held, told = parse(ALLOWANCE, packed)
    end
    if of ~= number then
      used, held, told = 0, 0, 0
    end
    return { used = used, held = held, told = told == 1, changed = false }
  end

  function teams.pack_allowance(number, allowance)
    return pack(ALLOWANCE, number, allowance.used, allowance.held, allowance.told and 1 or 0)
  end

  -- By a key's record, whose label cannot contain this: its quotation marks are escaped.
  function teams.is_test(record)
    return record and string.match(record, '"mode":"test"') ~= nil or false
  end

  -- Counts an addition, or a deduction if it is negative.
  function teams.add_credit(team, add)
    team.balance = team.balance + add
    team.credit.added, team.credit.deducted = team.credit.added + max(0, add), team.credit.deducted - min(0, add)
  end

  local function moved_credit(credit, balance)
    return credit.added > 0 or credit.deducted > 0 or credit.opening ~= balance
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
    local credit = team.credit
    if team.used > 0 or open > 0 or moved_credit(credit, team.balance) then
      local kept = call('HMGET', team.key, 'plan', 'p', 'currency')
      team.use[team.number] = {
        characters = team.used, starts = team.starts, ends = max(team.starts, min(team.ends, offer.starts)), length = team.length,
        plan = kept[1], p = kept[2], currency = kept[3], open = open, over = expires, requests = 0,
        balance = team.balance, opening = credit.opening, added = credit.added, deducted = credit.deducted, tests = 0,
        allowance = teams.read_allowance(call('HGET', team.key, 'allowance'), team.number).used,
      }
      if events.rules then
        team.use[team.number].told = events.last_percent(call('HGET', team.key, 't'), team.number)
      end
    end
    team.number, team.starts, team.ends, team.used = team.number + 1, offer.starts, offer.ends, 0
    team.credit, team.changed = { opening = team.balance, added = 0, deducted = 0 }, true
  end

  -- Begins the offered period if the team's has ended; false if no matching one is offered.
  function teams.follow_period(team, offer, now)
    if now < team.ends then
      return true
    end
    local anchor, length = teams.following(team)
    if not offer or not fits(offer, anchor, length, now) then
      return false
    end
    -- By the calendar it may have begun before the team's period ended, if that one was computed differently.
    offer.starts = max(offer.starts, team.ends)
    teams.begin_period(team, offer)
    local taken = team.next
    if taken then
      -- Keys of the wrong type fail here, before anything is written.
      call('ZCARD', beside(team.key, 'audit'))
      events.look(team.key)
      taken.anchor = anchor ~= team.anchor and anchor
      team.plan, team.currency, team.length, team.anchor = read_plan(taken.p), taken.currency, length, anchor
      team.taken, team.next = taken, nil
    end
    return true
  end

  -- Serial numbers of entries that are not in the list of all entries; the janitor lists them (redis-audit-log.ts).
  local UNLISTED = 500000000000000
  local MISSING = 4294967295

  function teams.moment(ms)
    return string.format('%015.0f', max(0, ms))
  end

  local function packed(values)
    local parts = { pack('>I2', #values) }
    for _, value in ipairs(values) do
      insert(parts, value and pack('>I4c0', #value, value) or pack('>I4', MISSING))
    end
    return table.concat(parts)
  end

  -- A member of the audit (audit.lua); without `after` the driver knows everything.
  function teams.audit_entry(id, record, before, after)
    return id .. pack('>I4c0', #record, record) .. (after and packed(before) .. packed(after) or '')
  end

  -- Writes the plan that a new period has brought, after the books.
  function teams.write_taken(team_key, taken, number, now)
    local before = teams.description(team_key)
    call('HSET', team_key, 'plan', taken.plan, 'currency', taken.currency, 'period', taken.length, 'p', taken.p)
    if taken.anchor then
      call('HSET', team_key, 'anchor', digits(taken.anchor))
    end
    call('HDEL', team_key, 'next')
    local after = teams.description(team_key)
    if taken.by ~= '' then
      local id = teams.moment(now) .. string.format('%016.0f', UNLISTED + number)
      call('ZADD', beside(team_key, 'audit'), 0, teams.audit_entry(id, taken.by, before, after))
      call('HSET', team_key, 'unlisted', id)
    end
    local event = events.change_id(team_key, events.team_of(team_key) .. '-updated', now)
    events.keep(team_key, event, now, 'updated', after, teams.DESCRIBED)
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

-- Closed periods, in `:periods`. COUNTS are the fields of an ended period's hash that settlements change.
local closed_periods = { COUNTS = { 'characters', 'open', 'requests', 'opening', 'balance', 'allowance', 'tests' } }

do
  local WITH_TEXTS = CLOSED .. 'Bc0Bc0Bc0Bc0Bc0'

  -- Called when a period is final, once for each that used characters or changed the credit, with its record; the same call makes the writes.
  function closed_periods.keep(team_key, of, record, at_ms)
    call('HSET', beside(team_key, 'periods'), digits(of), record)
    local starts, _, characters = parse(CLOSED, record)
    if characters == 0 then
      return
    end
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

  -- The requests that keys still count of the last period each was used in, by its number, and the characters of test keys. Those of
  -- other periods are in the period's hash (resolve.lua).
  function closed_periods.counts_of_keys(team_key)
    local by_number, fields = {}, call('HGETALL', team_key)
    for i = 1, #fields, 2 do
      if byte(fields[i]) == 107 then -- 'k'
        local _, _, number, characters, requests = parse(KEY, fields[i + 1])
        local counts = by_number[number] or { requests = 0, tests = 0 }
        by_number[number], counts.requests = counts, counts.requests + requests
        if characters > 0 and teams.is_test(call('HGET', beside(team_key, 'keys'), sub(fields[i], 2))) then
          counts.tests = counts.tests + characters
        end
      end
    end
    return by_number
  end

  -- Whether an ended period has to be kept.
  function closed_periods.is_kept(counts)
    return tonumber(counts.characters) > 0 or tonumber(counts.added) > 0 or tonumber(counts.deducted) > 0
      or tonumber(counts.opening) ~= tonumber(counts.balance)
  end

  local NONE_OF_KEYS = { requests = 0, tests = 0 }

  -- The record of an ended period. `of_keys` is what keys still count.
  function closed_periods.record(counts, of_keys)
    local numbers, plan_name, currency, length = counts.p, counts.plan, counts.currency, counts.length
    of_keys = of_keys or NONE_OF_KEYS
    local money = pack(CLOSED_MONEY, tonumber(counts.requests) + of_keys.requests, tonumber(counts.opening), tonumber(counts.added),
      tonumber(counts.deducted), tonumber(counts.balance), tonumber(counts.allowance), tonumber(counts.tests) + of_keys.tests)
    return pack(WITH_TEXTS, tonumber(counts.starts), tonumber(counts.ends), tonumber(counts.characters), #numbers, numbers, #plan_name,
      plan_name, #currency, currency, #length, length, #money, money)
  end

  -- Deletes the periods that ended before this time.
  function closed_periods.drop(key, before_ms)
    local dropped, closed = {}, call('HGETALL', key)
    for i = 1, #closed, 2 do
      local _, ends = parse(CLOSED, closed[i + 1])
      if ends < before_ms then
        insert(dropped, closed[i])
      end
    end
    call_in_pieces('HDEL', key, dropped)
  end
end
