-- The effects of time alone on a team, applied even without requests: its period ends, reservations expire, ended periods
-- close, finished days are moved to the history, and old data is deleted. Idempotent. KEYS: team. ARGV: the head (clock,
-- deadline, offer); for `tend` also how many days of history are kept, and how long after midnight the team is due again.
--@ uses constants: KEY
--@ uses library: timed
--@ uses shared: call, max, min, insert, sub, byte, pack, parse, number_at, digits, call_in_pieces
--@ uses layout: DAY_MS, NEVER
--@ uses plan: read_plan
--@ uses outbox: events
--@ uses team: teams, closed_periods
--@ uses days: days
--@ uses state: now, today, team_key, number, ends, slots_key, key_beside
--@ uses account: open_alone, write_account

-- How soon a team is checked again while a reservation is open in an ended period.
local OPEN_AGAIN_MS = 2000
-- Ended periods that one call checks.
local LEFT_MAX = 200
-- How far back to search for them if no lower bound is stored.
local LEFT_BEFORE = 10000

-- Reservations committed after the period's end may have reached more than was reported while it was current.
local function report_late_percents(of, counts, record)
  local charged = tonumber(counts.characters) - tonumber(counts.allowance or 0)
  local reached = events.percents_reached(read_plan(counts.p), tonumber(counts.told or 0), charged)
  for _, percent in ipairs(reached) do
    local team = events.texts(teams.description(team_key), teams.DESCRIBED)
    local id = events.quota_id(team_key, tonumber(counts.starts), of, percent)
    events.keep(team_key, id, now, 'late', { digits(percent), team, digits(of), record })
  end
end

-- Called with the total of a past day; again, with a higher total, if a clock that went back has added to it.
local function day_finished(day, characters, requests)
  local id = events.team_of(team_key) .. '-day-' .. digits(day) .. '-' .. digits(requests)
  events.keep(team_key, id, now, 'day', { digits(day), digits(characters), digits(requests) })
end

-- Expires leases and updates the period. Returns the answer if the account cannot be opened.
local function catch_up(at_ms)
  local undone = open_alone(at_ms)
  if undone then
    return undone
  end
  -- Keys of the wrong type fail here, before anything is written.
  call('LLEN', slots_key)
  call('HLEN', key_beside('periods'))
  call('HLEN', key_beside('days'))
  events.look(team_key)
  write_account(1, 0)
  return nil
end

-- Whether no reservation can be open in an ended period.
local function is_over(counts)
  return tonumber(counts.open) == 0 or now >= tonumber(counts.over)
end

local function close_period(of, counts, key)
  if closed_periods.is_kept(counts) then
    local record = closed_periods.record(counts, closed_periods.counts_of_keys(team_key)[of])
    if events.rules and tonumber(counts.characters) > 0 then
      report_late_percents(of, counts, record)
    end
    closed_periods.keep(team_key, of, record, now)
  end
  call('DEL', key)
end

-- Closes the ended periods that can be closed, in order: what is settled late in one changes the balance of those after. Returns the others, by number, and whether all were checked.
local function close_periods()
  local from = tonumber(call('HGET', team_key, 'left') or nil) or max(1, number - LEFT_BEFORE)
  local last, left, first_left = min(number - 1, from + LEFT_MAX - 1), {}, nil
  for of = from, last do
    local key = teams.use_key(team_key, of)
    local counts = closed_periods.named(call('HGETALL', key))
    -- Periods in which nothing was charged or held are not kept.
    if counts.starts then
      if not first_left and is_over(counts) then
        close_period(of, counts, key)
      else
        left[of], first_left = counts, first_left or of
      end
    end
  end
  local next_from = first_left or last + 1
  if next_from ~= from then
    call('HSET', team_key, 'left', digits(next_from))
  end
  return left, last == number - 1
end

-- Adds the keys' counts of past days to the stored days. Returns the keys' new records, and the first day that was changed,
-- if any.
local function finish_days(stored)
  local fields, records, first = call('HGETALL', team_key), {}, NEVER
  for i = 1, #fields, 2 do
    local of = byte(fields[i]) == 107 and stored[sub(fields[i], 2)] -- 'k'
    if of then
      local key = {}
      key.active, key.last_use, key.number, key.characters, key.requests, key.day = parse(KEY, fields[i + 1])
      of.resting = key.day == 0
      if key.day > 0 and key.day < today then
        days.close(of, key)
        of.resting = true
        insert(records, fields[i])
        insert(records, pack(KEY, key.active, key.last_use, key.number, key.characters, key.requests, 0))
      end
      first = min(first, of.added or NEVER)
    end
  end
  return records, first
end

local function report_days(stored, last_done)
  local by_day, order = {}, {}
  for _, of in pairs(stored) do
    for _, one in ipairs(days.since(of, last_done)) do
      local day = one[1]
      if day < today then
        if not by_day[day] then
          by_day[day] = { 0, 0 }
          insert(order, day)
        end
        by_day[day][1], by_day[day][2] = by_day[day][1] + one[2], by_day[day][2] + one[3]
      end
    end
  end
  table.sort(order)
  for _, day in ipairs(order) do
    day_finished(day, by_day[day][1], by_day[day][2])
  end
end

-- Writes the days first: a record without a day has all its counts in the days.
local function write_finished(stored, records, first_kept)
  local changed, gone = { days.DONE, digits(today - 1) }, {}
  local left = false
  for id, of in pairs(stored) do
    days.drop(of, first_kept)
    if of.list == '' and of.resting then
      insert(gone, id)
    else
      left = true
      if of.changed then
        insert(changed, id)
        insert(changed, days.record(of))
      end
    end
  end
  if left then
    call_in_pieces('HSET', key_beside('days'), changed)
    call_in_pieces('HDEL', key_beside('days'), gone)
  else
    call('DEL', key_beside('days'))
  end
  call_in_pieces('HSET', team_key, records)
end

-- Once a day: moves the counts of past days to `:days`, and drops what is too old. Returns whether it did.
local function keep_days(kept_days)
  local fields, stored = closed_periods.named(call('HGETALL', key_beside('days'))), {}
  local last_done = tonumber(fields[days.DONE] or 0)
  if last_done == today - 1 then
    return false
  end
  closed_periods.drop(key_beside('periods'), now - kept_days * DAY_MS)
  if not next(fields) then
    return true
  end
  for id, packed in pairs(fields) do
    if id ~= days.DONE then
      stored[id] = days.read(packed)
    end
  end
  local records, first = finish_days(stored)
  report_days(stored, min(last_done, first - 1))
  write_finished(stored, records, today - kept_days)
  return true
end

function timed.tend(at_ms)
  local kept_days, after_midnight = number_at(7), number_at(8)
  local undone = catch_up(at_ms)
  if undone then
    return undone
  end
  local left, looked_at_all = close_periods()
  local is_new_day = keep_days(kept_days)
  local due = min(ends, (today + 1) * DAY_MS + after_midnight)
  if not looked_at_all then
    due = now
  elseif next(left) then
    due = min(due, now + OPEN_AGAIN_MS)
  end
  -- The janitor still has to list the audit entry of a plan that took effect with the period, and to drop what is old of tags.
  local has_tags = is_new_day and call('EXISTS', key_beside('tag_counts'), key_beside('tag_uses')) > 0
  return { now, 'tended', digits(due), call('HGET', team_key, 'unlisted'), has_tags and 'tags' or '' }
end

-- The current period, those that have ended and are not closed, and the closed ones.
function timed.periods(at_ms)
  local undone = catch_up(at_ms)
  if undone then
    return undone
  end
  local left, open = close_periods(), {}
  for of, counts in pairs(left) do
    insert(open, {
      digits(of), counts.starts, counts.ends, counts.characters, counts.p, counts.plan, counts.currency, counts.length, counts.requests,
      counts.opening, counts.added, counts.deducted, counts.balance, counts.allowance, counts.tests,
    })
  end
  return { now, 'periods', digits(now), call('HGETALL', team_key), open, call('HGETALL', key_beside('periods')), call('HGETALL', key_beside('keys')) }
end
