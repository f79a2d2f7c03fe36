-- The team's rate window: a list of the times at which requests were admitted to a place in it, the newest last.

-- Renewed with the first place and whenever WINDOW_REFRESH_MS have passed: what it holds is of use for one second only.
local WINDOW_TTL_MS = 60000
local WINDOW_REFRESH_MS = 20000

-- How far all places are to be moved back: the clock has stepped behind the newest.
local function window_shift(newest, now)
  if newest and newest > now then
    return newest - now
  end
  return 0
end

-- Milliseconds until a place is free, 0 when there is one.
local function wait_for_place(key, limit, shift, now)
  local decisive = call('LINDEX', key, digits(-limit))
  if not decisive then
    return 0
  end
  return math.max(0, decisive - shift + RATE_WINDOW_MS - now)
end

local function move_places(key, shift)
  if shift == 0 then
    return
  end
  local places = call('LRANGE', key, 0, -1)
  for i, place in ipairs(places) do
    places[i] = digits(place - shift)
  end
  call('DEL', key)
  call_in_pieces('RPUSH', key, places)
  call('PEXPIRE', key, WINDOW_TTL_MS)
end

-- How many of the places, oldest first, no longer count. Searches by halves: places are in order, and after a lowered
-- limit many of them still count.
local function ended_places(key, length, shift, now)
  local low, high = 0, length
  while low < high do
    local middle = floor((low + high) / 2)
    if now + shift - call('LINDEX', key, middle) >= RATE_WINDOW_MS then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- How many places are left when one more is taken now. To be asked before it is, and when there is one.
local function places_left(key, limit, shift, now)
  local length = call('LLEN', key)
  return limit - (length - ended_places(key, length, shift, now)) - 1
end

local function drop_ended_places(key, length, now)
  local ended = ended_places(key, length, 0, now)
  if ended > 0 then
    call('LTRIM', key, ended, -1)
  end
end

-- `refresh` when the time to live was not renewed for a while.
local function take_place(key, limit, now, refresh)
  local length = call('RPUSH', key, digits(now))
  if length == 1 or refresh then
    call('PEXPIRE', key, WINDOW_TTL_MS)
  end
  if length > 2 * limit + 8 then
    drop_ended_places(key, length, now)
  end
end
