-- The team's rate window: a list of the times at which requests were admitted to a place in it, the newest last.
-- Places are taken in memory, one after the other, and written together at the end.

-- Renewed with the first place and whenever WINDOW_REFRESH_MS have passed: what it holds is of use for one second only.
local WINDOW_TTL_MS = 60000
local WINDOW_REFRESH_MS = 20000

-- `newest` and `refreshed` are the times of the newest place and of the last renewal; `wanted` is how many may take a place.
local function open_window(key, limit, newest, refreshed, now, wanted)
  local length = call('LLEN', key)
  local first = math.max(0, length - limit)
  local last = length - limit + wanted - 1
  return {
    key = key, limit = limit, now = now, length = length, first = first, taken = 0,
    -- How far all places are to be moved back: the clock has stepped behind the newest.
    shift = newest and newest > now and newest - now or 0,
    refresh = not refreshed or now - refreshed >= WINDOW_REFRESH_MS or now < refreshed,
    -- Of those that wait, each looks at one place: the one that is `limit` places back.
    decisive = last >= 0 and call('LRANGE', key, first, last) or {},
  }
end

-- Milliseconds until a place is free, 0 when there is one.
local function wait_for_place(window)
  local position = window.length - window.limit + window.taken
  if position < 0 then
    return 0
  end
  local place = window.decisive[position - window.first + 1]
  -- Behind the stored ones are those that were taken in this very call.
  return place and math.max(0, place - window.shift + RATE_WINDOW_MS - window.now) or RATE_WINDOW_MS
end

local function move_places(window)
  local places = call('LRANGE', window.key, 0, -1)
  for i, place in ipairs(places) do
    places[i] = digits(place - window.shift)
  end
  call('DEL', window.key)
  call_in_pieces('RPUSH', window.key, places)
  call('PEXPIRE', window.key, WINDOW_TTL_MS)
end

-- How many of the stored places, oldest first, no longer count. Searches by halves: places are in order, and after a
-- lowered limit many of them still count.
local function ended_places(window, length, now)
  local low, high = 0, length
  while low < high do
    local middle = floor((low + high) / 2)
    if now - call('LINDEX', window.key, middle) >= RATE_WINDOW_MS then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- How many places are left. To be asked before the window is written.
local function places_left(window)
  window.ended = window.ended or ended_places(window, window.length, window.now + window.shift)
  return window.limit - (window.length - window.ended) - window.taken
end

local function take_place(window)
  window.taken = window.taken + 1
end

-- What is to be noted in the team's record.
local function window_fields(window, fields)
  if window.taken > 0 or window.shift > 0 then
    append(fields, { 'window_newest', digits(window.now) })
  end
  if window.taken > 0 and window.refresh then
    append(fields, { 'window_refreshed', digits(window.now) })
  end
end

local function write_window(window)
  if window.shift > 0 then
    move_places(window)
  end
  if window.taken == 0 then
    return
  end
  local places, now = {}, digits(window.now)
  for i = 1, window.taken do
    places[i] = now
  end
  local length = call('RPUSH', window.key, unpack(places))
  if length == window.taken or window.refresh then
    call('PEXPIRE', window.key, WINDOW_TTL_MS)
  end
  if length > 2 * window.limit + 8 then
    local ended = ended_places(window, length, window.now)
    if ended > 0 then
      call('LTRIM', window.key, ended, -1)
    end
  end
end
