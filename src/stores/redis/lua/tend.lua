-- What becomes of a team by time alone, done for teams without requests, too: its period ends, what it reserved ends, periods that
-- were left close, finished days are written away, what is old is forgotten. Doing it twice changes nothing more.
-- KEYS: team. ARGV: the head (clock, deadline, offer); of `tend` then how many days of history are kept, and how long after midnight
-- the team is due again.

-- A function of its own, because one in Lua may have at most 200 local variables.
local tend, periods = (function()
  -- How soon a team is looked at again while something is open in a period that has ended.
  local OPEN_AGAIN_MS = 2000
  -- Left periods that one call looks at: an older version may have kept many.
  local LEFT_MAX = 200
  -- How far back they are looked for where nobody has looked before.
  local LEFT_BEFORE = 10000

  -- Nothing of this period can change any more. Called once for each that has any use, with its record; writes are made by the same
  -- call.
  local function period_closed(of, characters, record)
    call('HSET', key_beside('periods'), digits(of), record)
    local id = events.team_of(team_key) .. '-period-' .. digits(closed_periods.starts(record))
    events.keep(team_key, id, now, 'period', { digits(of), record })
  end

  -- What was reserved in the period and committed after it may have reached more than was told while it ran.
  local function tell_late_percents(of, counts, record)
    local reached = events.percents_reached(read_plan(counts.p), tonumber(counts.told or 0), tonumber(counts.characters))
    for _, percent in ipairs(reached) do
      local team = events.texts(call('HMGET', team_key, 'name', 'plan', 'created', 'period', 'currency', 'p', 'b'), 7)
      local id = events.quota_id(team_key, tonumber(counts.starts), percent)
      events.keep(team_key, id, now, 'late', { digits(percent), team, digits(of), record })
    end
  end

  -- All that the team's keys committed on a day that is over. Called again, with more, where a clock that stepped back has added to it.
  local function day_finished(day, characters, requests)
    local id = events.team_of(team_key) .. '-day-' .. digits(day) .. '-' .. digits(requests)
    events.keep(team_key, id, now, 'day', { digits(day), digits(characters), digits(requests) })
  end

  -- Ends leases and follows the period. Returns what to answer where the account cannot be opened.
  local function bring_up(offer)
    local opened, undone = open_account(key_at(1), 1, 0, offer)
    if undone then
      return ask_for_bounds(now, undone.anchor, undone.length)
    elseif not opened then
      return { now, 'none' }
    end
    -- What a wrong type makes fail comes before anything is written.
    call('LLEN', places_key)
    call('HLEN', key_beside('periods'))
    call('HLEN', key_beside('days'))
    events.look(team_key)
    write_account(1, 0)
    return nil
  end

  -- Whether nothing can be open any more in a period that was left; one that an older version left does not say what is.
  local function is_over(counts, key)
    local open, over = tonumber(counts.open), tonumber(counts.over)
    if open == 0 or over and now >= over then
      return true
    elseif not open and not over then
      -- Whatever was reserved before this moment has ended when the team's ids expire.
      call('HSET', key, 'over', digits(expires))
      return now >= expires
    end
    return false
  end

  local function close_period(of, counts, key)
    local characters, length = tonumber(counts.characters or 0), counts.length or call('HGET', team_key, 'period')
    if characters > 0 then
      local record = closed_periods.record(counts, length)
      if events.rules then
        tell_late_percents(of, counts, record)
      end
      period_closed(of, characters, record)
    end
    call('DEL', key)
  end

  -- Closes what can be closed of the periods that were left. Returns those that cannot, by number, and whether all were looked at.
  local function close_periods()
    local from = tonumber(call('HGET', team_key, 'left') or nil) or max(1, number - LEFT_BEFORE)
    local last, left, first_left = min(number - 1, from + LEFT_MAX - 1), {}, nil
    for of = from, last do
      local key = use_key(team_key, of)
      local counts = closed_periods.named(call('HGETALL', key))
      -- Without bounds it was left by a version that kept none.
      if counts.starts then
        if is_over(counts, key) then
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

  -- Adds to the stored days what keys have counted before this one. Returns what their records are to be, and the first day that
  -- got something, if any did.
  local function finish_days(stored)
    local fields, records, first = call('HGETALL', team_key), {}, NEVER
    for i = 1, #fields, 2 do
      local of = byte(fields[i]) == 107 and stored[sub(fields[i], 2)] -- k
      if of then
        local key = {}
        key.active, key.last_use, key.number, key.characters, key.requests, key.day = parse(KEY, with_day(fields[i + 1]))
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

  local function tell_days(stored, told)
    local by_day, order = {}, {}
    for _, of in pairs(stored) do
      for _, one in ipairs(days.since(of, told)) do
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

  local function drop_periods(before_ms)
    closed_periods.drop(key_beside('periods'), before_ms)
  end

  -- The days first: records without a day have all that they count in them.
  local function write_finished(stored, records, first_kept)
    local changed, gone = { TOLD, digits(today - 1) }, {}
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

  -- Once a day: what the days before came to is in `:days` then, and what is too old is not.
  local function keep_days(kept_days)
    local fields, stored = closed_periods.named(call('HGETALL', key_beside('days'))), {}
    local told = tonumber(fields[TOLD] or 0)
    if told == today - 1 then
      return
    end
    drop_periods(now - kept_days * DAY_MS)
    if not next(fields) then
      return
    end
    for id, packed in pairs(fields) do
      if id ~= TOLD then
        stored[id] = days.read(packed)
      end
    end
    local records, first = finish_days(stored)
    tell_days(stored, min(told, first - 1))
    write_finished(stored, records, today - kept_days)
  end

  -- By the head of the call: its clock, its deadline, and the bounds of a period that came with it.
  local function bring_up_in_time()
    local at_ms, is_late = read_clock()
    local offer = read_offer()
    if is_late then
      return { at_ms, 'late' }
    end
    begin(at_ms)
    return bring_up(offer)
  end

  local function tend()
    local kept_days, after_midnight = number_at(7), number_at(8)
    local undone = bring_up_in_time()
    if undone then
      return undone
    end
    local left, looked_at_all = close_periods()
    keep_days(kept_days)
    local due = min(ends, (today + 1) * DAY_MS + after_midnight)
    if not looked_at_all then
      due = now
    elseif next(left) then
      due = min(due, now + OPEN_AGAIN_MS)
    end
    return { now, 'tended', digits(due) }
  end

  -- The running period, those that were left and are not closed, and the closed ones.
  local function periods()
    local undone = bring_up_in_time()
    if undone then
      return undone
    end
    local left, open = close_periods(), {}
    for of, counts in pairs(left) do
      local length = counts.length or call('HGET', team_key, 'period')
      insert(open, { digits(of), counts.starts, counts.ends, counts.characters, counts.p, counts.plan, counts.currency, length })
    end
    return {
      now, 'periods', digits(now),
      { digits(number), digits(starts), digits(ends), digits(used), unpack(call('HMGET', team_key, 'p', 'plan', 'currency', 'period')) },
      open, call('HGETALL', key_beside('periods')),
    }
  end

  return tend, periods
end)()
