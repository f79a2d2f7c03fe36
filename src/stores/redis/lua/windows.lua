-- Limits by windows of the calendar: the rules of src/ledger/counter.ts. What a subject has used of them is
-- { tickets, windows = { { per, startMs, endMs, from, requests, characters }, … } }: each request that is counted gets the next ticket,
-- and a window counts those with a greater ticket than `from`, so that what comes back comes back only to where it was counted.
-- A tag's `inPeriod`, { period, used, from }, is such a window that a period makes.
-- Bounds come with the call, because Lua has no calendar: { order = { 'minute', … }, minute = { startMs, endMs }, … }.

-- Opens what a subject { of, name, windows } has used, by `text` as it is stored; `windows` are its limits. The tickets of a tag begin
-- with the time, because its settings come and go.
local function open_windows(team_key, subject, text, number, now)
  local is_tag = subject.of == 'tag'
  local tally = text and take(team_key, 'windows:' .. subject.name, text) or { tickets = is_tag and now or 0, windows = {} }
  subject.tally = tally
  if not tally.by_per then
    tally.by_per = {}
    for i = 1, #tally.windows do
      tally.by_per[tally.windows[i].per] = tally.windows[i]
    end
  end
  if is_tag then
    local one = tally.inPeriod
    tally.inPeriod = one and one.period == number and one or { period = number, used = 0, from = tally.tickets }
    subject.in_period = tally.inPeriod
  end
end

local function write_windows(writes, subject)
  local tally, list, in_period = subject.tally, {}, ''
  for i = 1, #tally.windows do
    local one = tally.windows[i]
    list[i] = format(
      '{"per":"%s","startMs":%d,"endMs":%d,"from":%d,"requests":%d,"characters":%d}',
      one.per, one.startMs, one.endMs, one.from, one.requests, one.characters
    )
  end
  if tally.inPeriod then
    local one = tally.inPeriod
    in_period = format(',"inPeriod":{"period":%d,"used":%d,"from":%d}', one.period, one.used, one.from)
  end
  local text = format('{"tickets":%d,"windows":[%s]%s}', tally.tickets, table.concat(list, ','), in_period)
  write(writes, 'windows:' .. subject.name, text, tally)
end

-- The clock has stepped back by more than the window's length.
local function is_far_before(window, now)
  return now < window.startMs - (window.endMs - window.startMs)
end

local function end_of_window(window, per, now, bounds)
  if not window or now >= window.endMs or is_far_before(window, now) then
    return bounds[per].endMs
  end
  return window.endMs
end

-- The number by which a request is refused for now: of several, that of the window that ends last. More characters than the whole number
-- are no matter of waiting (`too_small_window`).
local function exceeded_window(subject, characters, now, bounds)
  local found
  for i = 1, #subject.windows do
    local limit = subject.windows[i]
    local window = subject.tally.by_per[limit.per]
    if window and now < window.endMs then
      local what
      if limit.requests and window.requests >= limit.requests then
        what = 'requests'
      elseif limit.characters and characters and characters <= limit.characters
        and window.characters + characters > limit.characters then
        what = 'characters'
      end
      local ends = what and end_of_window(window, limit.per, now, bounds)
      if what and (not found or ends > found.ends) then
        found = { per = limit.per, counts = what, limit = limit[what], ends = ends }
      end
    end
  end
  return found
end

local function too_small_window(subject, characters, now, bounds)
  for i = 1, #subject.windows do
    local limit = subject.windows[i]
    if limit.characters and characters > limit.characters then
      local ends = end_of_window(subject.tally.by_per[limit.per], limit.per, now, bounds)
      return { per = limit.per, counts = 'characters', limit = limit.characters, ends = ends }
    end
  end
end

-- Counts a request and the characters that it reserves.
local function count_in_windows(subject, characters, now, bounds)
  local tally = subject.tally
  local before, by_per = tally.tickets, tally.by_per
  tally.tickets, tally.windows = before + 1, {}
  for i = 1, #bounds.order do
    local per = bounds.order[i]
    local window, current = by_per[per], bounds[per]
    if not window or now >= window.endMs then
      window = subject.windows[per]
        and { per = per, startMs = current.startMs, endMs = current.endMs, from = before, requests = 0, characters = 0 }
      by_per[per] = window
    elseif is_far_before(window, now) then
      window.startMs, window.endMs = current.startMs, current.endMs
    end
    if window then
      window.requests, window.characters = window.requests + 1, window.characters + characters
      tally.windows[#tally.windows + 1] = window
    end
  end
  if tally.inPeriod then
    tally.inPeriod.used = tally.inPeriod.used + characters
  end
end

-- Characters of the request with this ticket, which was made in a period, are not charged after all.
local function give_back_to_windows(subject, ticket, period, characters)
  for _, window in pairs(subject.tally.by_per) do
    if ticket > window.from then
      window.characters = max(0, window.characters - characters)
    end
  end
  local one = subject.tally.inPeriod
  if one and one.period == period and ticket > one.from then
    one.used = max(0, one.used - characters)
  end
end

-- The state of each number after a request was counted, as `WindowStanding`.
local function window_standings(subjects, now, bounds)
  local list = {}
  for i = 1, #subjects do
    local subject = subjects[i]
    for j = 1, #subject.windows do
      local limit = subject.windows[j]
      local window = subject.tally.by_per[limit.per]
      local used = window and now < window.endMs and window or { requests = 0, characters = 0 }
      local reset = end_of_window(window, limit.per, now, bounds) - now
      for _, what in ipairs({ 'requests', 'characters' }) do
        local most = limit[what]
        if most then
          local remaining = max(0, most - used[what])
          list[#list + 1] = { of = subject.of, per = limit.per, counts = what, limit = most, remaining = remaining, resetMs = reset }
        end
      end
    end
  end
  return #list > 0 and list or nil
end
