-- Limits by minute, hour, day, week and month, in UTC, of the open account's subjects: the team, each key that has such limits, and
-- tags with settings, whose counts tag_limits.lua reads and writes.
-- The rules are those of domain/window-counts.ts; windows are numbered from the shortest. A subject's limits are a list of
-- { window, requests, characters }, 0 for none (plan.lua). What it has used is read when it is first needed, from its field of the
-- team: `tickets`, and by number each window with `starts`, `ends`, `from`, `requests`, `characters`, `told`. The account's are in
-- `rare.windows`, by field.
--@ uses constants: WINDOW_TICKETS, WINDOW_TICKETS_BYTES, WINDOW_COUNT, WINDOW_COUNT_BYTES, TICKETS, TEAM_WINDOWS, KEY_WINDOWS
--@ uses constants: TAG_WINDOWS
--@ uses shared: call, floor, max, min, pack, parse, now_past
--@ uses layout: DAY_MS, OPEN_KEY, open_key
--@ uses outbox: events
--@ uses state: now, team_key, plan, rarely
--@ uses tag_limits: tagging
--@ gives windows

local windows = {}

do
  local WEEK, MONTH = 4, 5
  local LENGTHS = { 60000, 3600000, DAY_MS, 7 * DAY_MS }
  -- 1970-01-01 was a Thursday.
  local SINCE_MONDAY = 3 * DAY_MS
  local NUMBERS = { 'requests', 'characters' }
  local TEAM, KEY = 'c', 'c:'

  -- The first day of a month, since 0000-03-01, with which years end in February; the month is counted from that one.
  local function first_day(month)
    local year = floor(month / 12)
    return 365 * year + floor(year / 4) - floor(year / 100) + floor(year / 400) + floor((153 * (month % 12) + 2) / 5)
  end

  -- The month of a day, both since then. 400 years have 146097 days, 100 years 36524 or one more, 4 years 1461.
  local function month_of(day)
    local era = floor(day / 146097)
    local of_era = day - era * 146097
    local year = floor((of_era - floor(of_era / 1460) + floor(of_era / 36524) - floor(of_era / 146096)) / 365)
    local of_year = of_era - (365 * year + floor(year / 4) - floor(year / 100))
    return (era * 400 + year) * 12 + floor((5 * of_year + 2) / 153)
  end

  -- The start and the end of the window that contains now.
  local function bounds(window)
    if window == MONTH then
      -- From 0000-03-01 to 1970-01-01.
      local shift = 719468
      local month = month_of(floor(now / DAY_MS) + shift)
      return (first_day(month) - shift) * DAY_MS, (first_day(month + 1) - shift) * DAY_MS
    end
    local starts = now - (now + (window == WEEK and SINCE_MONDAY or 0)) % LENGTHS[window]
    return starts, starts + LENGTHS[window]
  end

  local function read(field)
    local counts, packed = { tickets = 0, changed = false }, call('HGET', team_key, field)
    if packed then
      counts.tickets = parse(WINDOW_TICKETS, packed)
      for at = WINDOW_TICKETS_BYTES + 1, #packed, WINDOW_COUNT_BYTES do
        local one, window = {}, nil
        window, one.starts, one.ends, one.from, one.requests, one.characters, one.told = parse(WINDOW_COUNT, packed, at)
        counts[window] = one
      end
    end
    return counts
  end

  local function counts_of(field)
    local all = rarely('windows')
    all[field] = all[field] or read(field)
    return all[field]
  end

  -- The subjects of a request, in the order in which they are judged: calls `work` with the limits, the counts, the index of the
  -- subject's first window in the list of limits (domain/limits.ts), and the key if it is one. Stops at the first result. Another
  -- kind of subject is another call here.
  local function first_of(guard, key_id, work, ...)
    local result
    if plan.windows then
      result = work(plan.windows, counts_of(TEAM), TEAM_WINDOWS, nil, ...)
    end
    if not result and guard and guard.windows then
      result = work(guard.windows, counts_of(KEY .. key_id), KEY_WINDOWS, key_id, ...)
    end
    local tag = tagging.current
    if not result and tag then
      result = work(tag.settings.windows, tag.counts, TAG_WINDOWS, nil, ...)
    end
    return result
  end

  local function is_far_before(one)
    return now < one.starts - (one.ends - one.starts)
  end

  local function ends_at(counts, window)
    local one = counts[window]
    if not one or now >= one.ends or is_far_before(one) then
      local _, ends = bounds(window)
      return ends
    end
    return one.ends
  end

  -- The index of a number in the list of limits, in which a subject's windows follow each other.
  local function index_of(first, window, number)
    return first + #NUMBERS * (window - 1) + number - 1
  end

  -- Which number of a limit is exceeded.
  local function exceeded_by(limit, one, characters)
    if limit.requests > 0 and one.requests >= limit.requests then
      return 1
    end
    if limit.characters > 0 and characters and characters <= limit.characters and one.characters + characters > limit.characters then
      return 2
    end
    return nil
  end

  -- A refusal by the window that ends last, so that it is worth waiting for. A release may give characters back at any time, so that
  -- a refusal for them holds for no time; one for requests holds until the window or the key ends.
  local function refusal_for_now(limits, counts, first, key_id, characters, expires)
    local refused, number, ends = nil, nil, 0
    for i = 1, #limits do
      local one = counts[limits[i].window]
      local by = one and now < one.ends and exceeded_by(limits[i], one, characters)
      local ending = by and ends_at(counts, limits[i].window)
      if by and ending > ends then
        refused, number, ends = limits[i], by, ending
      end
    end
    if not refused then
      return nil
    end
    local window, holds = refused.window, 0
    if number == 1 then
      holds = max(0, min(ends, expires > 0 and expires or ends) - now - now_past)
    end
    local answer = 'z' .. pack('>Bddd', index_of(first, window, number), refused[NUMBERS[number]], ends - now, holds)
    return events.refused_by_window(answer, 'rate_limited', window, NUMBERS[number], counts, characters, key_id)
  end

  -- Judged after the rates. `characters` are those to reserve, nil if none.
  function windows.judge(guard, key_id, characters)
    return first_of(guard, key_id, refusal_for_now, characters, guard and guard.expires or 0)
  end

  -- A refusal by the first window whose whole number is less than these characters: no waiting helps.
  local function refusal_for_ever(limits, counts, first, key_id, characters)
    for i = 1, #limits do
      local limit = limits[i]
      if limit.characters > 0 and characters > limit.characters then
        local answer = 'Z' .. pack('>Bddd', index_of(first, limit.window, 2), limit.characters, 0, ends_at(counts, limit.window))
        return events.refused_by_window(answer, 'quota_exceeded', limit.window, NUMBERS[2], counts, characters, key_id)
      end
    end
    return nil
  end

  -- Judged before the quota.
  function windows.judge_whole(guard, key_id, characters)
    return first_of(guard, key_id, refusal_for_ever, characters)
  end

  local function is_limited(limits, window)
    for i = 1, #limits do
      if limits[i].window == window then
        return true
      end
    end
    return false
  end

  local function count(limits, counts)
    local before = counts.tickets
    counts.tickets, counts.changed = before + 1, true
    for window = 1, MONTH do
      local one = counts[window]
      if one and now < one.ends then
        if is_far_before(one) then
          one.starts, one.ends = bounds(window)
        end
        one.requests = one.requests + 1
      elseif is_limited(limits, window) then
        local starts, ends = bounds(window)
        counts[window] = { starts = starts, ends = ends, from = before, requests = 1, characters = 0, told = 0 }
      else
        counts[window] = nil
      end
    end
  end

  -- Counts a request that takes its place.
  function windows.count(guard, key_id)
    first_of(guard, key_id, count)
  end

  local function hold(_, counts, _, key_id, characters, tickets)
    for window = 1, MONTH do
      local one = counts[window]
      if one then
        one.characters = one.characters + characters
      end
    end
    if not counts.tag then
      tickets[key_id and 2 or 1] = counts.tickets
    end
  end

  -- Counts the characters that the request counted last reserves. Returns its tickets, which are part of its record.
  function windows.hold(guard, key_id, characters)
    local tickets = { 0, 0 }
    first_of(guard, key_id, hold, characters, tickets)
    return pack(TICKETS, tickets[1], tickets[2])
  end

  local function give_back(field, ticket, characters)
    local counts = counts_of(field)
    for window = 1, MONTH do
      local one = counts[window]
      if one and ticket > one.from then
        one.characters, counts.changed = max(0, one.characters - characters), true
      end
    end
  end

  -- Characters of a counted reservation are not charged after all.
  function windows.release(record, characters)
    if characters > 0 then
      local team, key = parse(TICKETS, record, OPEN_KEY)
      if team > 0 then
        give_back(TEAM, team, characters)
      end
      if key > 0 then
        give_back(KEY .. open_key(record), key, characters)
      end
    end
  end

  -- Marks the window of a refusal as reported. Returns its start, nil if it was reported before.
  function windows.tell(counts, window)
    local one = counts[window]
    if not one or one.told == 1 then
      return nil
    end
    one.told, counts.changed = 1, true
    return one.starts
  end

  local function add_standings(limits, counts, first, _, parts)
    for i = 1, #limits do
      local limit = limits[i]
      local one, ends = counts[limit.window], ends_at(counts, limit.window)
      for number, name in ipairs(NUMBERS) do
        if limit[name] > 0 then
          parts[#parts + 1] = pack('>Bddd', index_of(first, limit.window, number), limit[name], max(0, limit[name] - one[name]), ends - now)
        end
      end
    end
  end

  -- The state of each number after a request was counted, which precedes its answer.
  function windows.report(guard, key_id)
    local parts = {}
    first_of(guard, key_id, add_standings, parts)
    -- A tag without such limits is counted as well.
    return #parts == 0 and '' or '=' .. pack('B', #parts) .. table.concat(parts)
  end

  -- Appends the changed counts to the team's fields, of which there are so many. Returns the new number.
  function windows.write(all, fields, written)
    for field, counts in pairs(all) do
      if counts.changed then
        local packed = pack(WINDOW_TICKETS, counts.tickets)
        for window = 1, MONTH do
          local one = counts[window]
          if one then
            packed = packed .. pack(WINDOW_COUNT, window, one.starts, one.ends, one.from, one.requests, one.characters, one.told)
          end
        end
        fields[written + 1], fields[written + 2] = field, packed
        written = written + 2
      end
    end
    return written
  end
end
