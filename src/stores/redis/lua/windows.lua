-- Limits by minute, hour, day, week and month, in UTC, of the open account's subjects: the team, each key that has such limits, and
-- tags with settings, whose counts tag_limits.lua reads and writes. The rules are those of domain/window-counts.ts; windows are numbered
-- from the shortest. The counts of the team and a key are read when they are first needed, from their field of the team: `tickets`,
-- which are how many requests were ever counted, and the characters they have reserved. A window knows both as they were when it
-- began, so that a request changes no window; and an admission compares both with `tickets_most` and `characters_most`, which are as
-- much as all windows allow from `since` until `ends` by the limits in the field. The windows are decoded only when this does not
-- hold, or says no, or something comes back.
--@ uses constants: WINDOWS_USED, WINDOWS_USED_BYTES, WINDOW_COUNT, WINDOW_COUNT_BYTES, TICKETS, TEAM_WINDOWS, KEY_WINDOWS
--@ uses constants: TAG_WINDOWS, WHOLE_MAX
--@ uses shared: call, floor, max, min, insert, sub, byte, pack, parse, now_past
--@ uses layout: DAY_MS, OPEN_KEY, open_key
--@ uses outbox: events
--@ uses state: now, team_key, team_names, windows_field, plan, windowed
--@ changes state: windowed
--@ gives windows

local windows = {}

do
  local WEEK, MONTH = 4, 5
  local LENGTHS = { 60000, 3600000, DAY_MS, 7 * DAY_MS }
  -- 1970-01-01 was a Thursday.
  local SINCE_MONDAY = 3 * DAY_MS
  local find = string.find
  local NUMBERS = { 'requests', 'characters' }
  -- The kinds of subjects: their fields, and their first windows in the list of limits (domain/limits.ts).
  local TEAM, KEY, TAG = 1, 2, 3
  local FIELDS, FIRST = { 'c', 'c:' }, { TEAM_WINDOWS, KEY_WINDOWS, TAG_WINDOWS }

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

  local USED_AND_REST = WINDOWS_USED .. 'c0'
  -- Without limits, and without windows.
  local NOTHING = '\0'

  -- `rest`: a byte with the length of the limits, the limits, and the windows, which are in `open` once they are decoded.
  local function read(counts, packed)
    counts.changed, counts.limits, counts.open, counts.is_renewed = false, false, false, false
    if packed then
      counts.tickets, counts.characters, counts.since, counts.ends, counts.tickets_most, counts.characters_most = parse(WINDOWS_USED, packed)
      counts.rest = sub(packed, WINDOWS_USED_BYTES + 1)
    else
      counts.tickets, counts.characters, counts.since, counts.ends, counts.tickets_most, counts.characters_most = 0, 0, 0, 0, 0, 0
      counts.rest = NOTHING
    end
  end

  -- The counts of this account, as many as `windowed` says. The next account reuses the tables.
  local read_counts = {}

  local function counts_of(field)
    for i = 1, windowed do
      if read_counts[i].field == field then
        return read_counts[i]
      end
    end
    local counts, packed = read_counts[windowed + 1], nil
    if not counts then
      counts = {}
      read_counts[windowed + 1] = counts
    end
    if field == FIELDS[TEAM] then
      -- The next account reads it with the team's other fields.
      team_names.reads_windows, packed = true, windows_field
    end
    if packed == nil then
      packed = call('HGET', team_key, field)
    end
    read(counts, packed)
    windowed, counts.field = windowed + 1, field
    return counts
  end

  -- By number.
  local function open_windows(counts)
    if not counts.open then
      counts.open = {}
      for at = byte(counts.rest) + 2, #counts.rest, WINDOW_COUNT_BYTES do
        local one, window = {}, nil
        window, one.starts, one.ends, one.from, one.before, one.told = parse(WINDOW_COUNT, counts.rest, at)
        counts.open[window] = one
      end
    end
    return counts.open
  end

  -- The subjects of the request that is judged, in this order; `tickets` are those of its record, by kind, 0 for none.
  local subjects, kinds, limits_of, counts_by, key_of, tickets = 0, {}, {}, {}, {}, {}

  local function add(kind, counts, limits, key_id)
    local i = subjects + 1
    subjects, kinds[i], limits_of[i], counts_by[i], key_of[i] = i, kind, limits, counts, key_id
    if counts.limits ~= limits then
      counts.limits = limits
      if find(counts.rest, limits.packed, 1, true) ~= 1 then
        counts.ends = 0
      end
    end
  end

  -- Must be called before a request is judged. `tag` is nil for none with settings.
  function windows.open(guard, key_id, tag)
    subjects, tickets[TEAM], tickets[KEY] = 0, 0, 0
    if plan.windows then
      add(TEAM, counts_of(FIELDS[TEAM]), plan.windows)
    end
    if guard and guard.windows then
      add(KEY, counts_of(FIELDS[KEY] .. key_id), guard.windows, key_id)
    end
    if tag then
      add(TAG, tag.counts, tag.settings.windows)
    end
  end

  local function is_far_before(one)
    return now < one.starts - (one.ends - one.starts)
  end

  local function ends_at(counts, window)
    local one = open_windows(counts)[window]
    if not one or now >= one.ends or is_far_before(one) then
      local _, ends = bounds(window)
      return ends
    end
    return one.ends
  end

  -- The index of a number in the list of limits, in which a subject's windows follow each other.
  local function index_of(i, window, number)
    return FIRST[kinds[i]] + #NUMBERS * (window - 1) + number - 1
  end

  -- Which number of a limit is exceeded.
  local function exceeded_by(limit, counts, one, characters)
    if counts.tickets - one.from >= limit.requests then
      return 1
    end
    local most = limit.characters
    if characters and characters <= most and counts.characters - one.before + characters > most then
      return 2
    end
    return nil
  end

  -- A refusal by the window that ends last, so that it is worth waiting for. A release may give characters back at any time, so that
  -- a refusal for them holds for no time; one for requests holds until the window or the key ends.
  local function refusal_for_now(i, characters, expires)
    local limits, counts = limits_of[i], counts_by[i]
    local refused, number, ends = nil, nil, 0
    for window = 1, MONTH do
      local limit, one = limits[window], open_windows(counts)[window]
      local by = limit and one and now < one.ends and exceeded_by(limit, counts, one, characters)
      local ending = by and ends_at(counts, window)
      if by and ending > ends then
        refused, number, ends = window, by, ending
      end
    end
    if not refused then
      return nil
    end
    local holds = 0
    if number == 1 then
      holds = max(0, min(ends, expires > 0 and expires or ends) - now - now_past)
    end
    local answer = 'z' .. pack('>Bddd', index_of(i, refused, number), limits[refused][NUMBERS[number]], ends - now, holds)
    return events.refused_by_window(answer, 'rate_limited', refused, NUMBERS[number], counts, characters, key_of[i])
  end

  -- Judged after the rates. `characters` are those to reserve, nil if none.
  function windows.judge(guard, characters)
    for i = 1, subjects do
      local counts = counts_by[i]
      if now >= counts.ends or now < counts.since or counts.tickets >= counts.tickets_most
        or characters and counts.characters + characters > counts.characters_most then
        local refusal = refusal_for_now(i, characters, guard and guard.expires or 0)
        if refusal then
          return refusal
        end
      end
    end
    return nil
  end

  -- A refusal by the first window whose whole number is less than these characters: no waiting helps.
  local function refusal_for_ever(i, characters)
    local limits, counts, window = limits_of[i], counts_by[i], 1
    while not limits[window] or characters <= limits[window].characters do
      window = window + 1
    end
    local answer = 'Z' .. pack('>Bddd', index_of(i, window, 2), limits[window].characters, 0, ends_at(counts, window))
    return events.refused_by_window(answer, 'quota_exceeded', window, NUMBERS[2], counts, characters, key_of[i])
  end

  -- Judged before the quota.
  function windows.judge_whole(characters)
    for i = 1, subjects do
      if characters > limits_of[i].least_characters then
        return refusal_for_ever(i, characters)
      end
    end
    return nil
  end

  -- Drops windows that have ended, begins those that are limited, and computes how much all of them allow.
  local function renew(counts, limits)
    local open = open_windows(counts)
    local since, first_end, tickets_most, characters_most = 0, math.huge, WHOLE_MAX, WHOLE_MAX
    for window = 1, MONTH do
      local one, limit = open[window], limits[window]
      if one and now >= one.ends then
        one = nil
      end
      if one and is_far_before(one) then
        one.starts, one.ends = bounds(window)
      elseif not one and limit then
        one = { from = counts.tickets, before = counts.characters, told = 0 }
        one.starts, one.ends = bounds(window)
      end
      open[window] = one
      if one then
        since, first_end = max(since, one.starts), min(first_end, one.ends)
      end
      if limit then
        tickets_most, characters_most = min(tickets_most, one.from + limit.requests), min(characters_most, one.before + limit.characters)
      end
    end
    counts.since, counts.ends, counts.tickets_most, counts.characters_most = since, first_end, tickets_most, characters_most
    counts.is_renewed = true
  end

  -- Counts the request, which takes its place.
  function windows.count()
    for i = 1, subjects do
      local counts = counts_by[i]
      if now >= counts.ends or now < counts.since then
        renew(counts, limits_of[i])
      end
      counts.tickets, counts.changed = counts.tickets + 1, true
      tickets[kinds[i]] = counts.tickets
    end
  end

  -- Counts the characters that the counted request reserves. Returns its tickets, which are part of its record.
  function windows.hold(characters)
    for i = 1, subjects do
      local counts = counts_by[i]
      counts.characters = counts.characters + characters
    end
    return tickets[TEAM], tickets[KEY]
  end

  -- The same for one subject.
  function windows.give_back(counts, ticket, characters)
    for _, one in pairs(open_windows(counts)) do
      if ticket > one.from then
        one.before = min(counts.characters, one.before + characters)
        counts.ends, counts.changed, counts.is_renewed = 0, true, true
      end
    end
  end

  -- Characters of a counted reservation are not charged after all.
  function windows.release(record, characters)
    if characters > 0 then
      local team, key = parse(TICKETS, record, OPEN_KEY)
      if team > 0 then
        windows.give_back(counts_of(FIELDS[TEAM]), team, characters)
      end
      if key > 0 then
        windows.give_back(counts_of(FIELDS[KEY] .. open_key(record)), key, characters)
      end
    end
  end

  -- Marks the window of a refusal as reported. Returns its start, nil if it was reported before.
  function windows.tell(counts, window)
    local one = open_windows(counts)[window]
    if not one or one.told == 1 then
      return nil
    end
    one.told, counts.changed, counts.is_renewed = 1, true, true
    return one.starts
  end

  -- The state of each number after a request was counted, which precedes its answer.
  function windows.report()
    local parts = {}
    for i = 1, subjects do
      local counts = counts_by[i]
      for window = 1, MONTH do
        local limit, one = limits_of[i][window], open_windows(counts)[window]
        local used = limit and { counts.tickets - one.from, counts.characters - one.before }
        for number = 1, limit and #NUMBERS or 0 do
          local most = limit[NUMBERS[number]]
          if most < math.huge then
            insert(parts, pack('>Bddd', index_of(i, window, number), most, max(0, most - used[number]), one.ends - now))
          end
        end
      end
    end
    -- A tag without such limits is counted as well.
    return #parts == 0 and '' or '=' .. pack('B', #parts) .. table.concat(parts)
  end

  local function packed_windows(counts)
    local parts = { counts.limits and counts.limits.packed or sub(counts.rest, 1, 1 + byte(counts.rest)) }
    for window = 1, MONTH do
      local one = counts.open[window]
      if one then
        insert(parts, pack(WINDOW_COUNT, window, one.starts, one.ends, one.from, one.before, one.told))
      end
    end
    return table.concat(parts)
  end

  -- Appends the changed counts to the team's fields, of which there are so many. Returns the new number.
  function windows.write(fields, written)
    for i = 1, windowed do
      local counts = read_counts[i]
      if counts.changed then
        local rest = counts.is_renewed and packed_windows(counts) or counts.rest
        written = written + 2
        fields[written - 1], fields[written] = counts.field, pack(USED_AND_REST, counts.tickets, counts.characters, counts.since,
          counts.ends, counts.tickets_most, counts.characters_most, rest)
      end
    end
    return written
  end
end
