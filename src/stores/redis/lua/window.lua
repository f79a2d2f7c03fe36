-- The team's rate window: the newest of its places. An admission looks at one of them, the one that is `rate` places back.

-- Places taken now, without those of the list; and the list itself in memory, once its places were moved.
local places, taken, moved = {}, 0, nil
-- Places taken in the calendar second that holds now, and in the one before.
local in_second, in_second_before
-- Of the list: how many places count now; the wait that its decisive place asks for, after how many that were taken now.
local live, wait_after, wait_then

-- How many of the stored places, oldest first, no longer count: a binary search, because places are in order.
local function ended_places()
  local low, high = 0, length
  while low < high do
    local middle = floor((low + high) / 2)
    local place = call('LINDEX', places_key, middle)
    if not place or now - parse(PLACE, place) >= RATE_WINDOW_MS then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- The places of the list from `first` to `last`, from 0 on.
local function places_between(first, last)
  if not moved then
    return call('LRANGE', places_key, first, last)
  end
  local list = {}
  for i = first + 1, min(last + 1, #moved) do
    insert(list, moved[i])
  end
  return list
end

-- Stored are the places of the newest one's calendar second and of the one before.
local function turn_to_this_second()
  local second, newest_second = now - now % RATE_WINDOW_MS, newest - newest % RATE_WINDOW_MS
  if second == newest_second then
    in_second, in_second_before = current, previous
  else
    in_second, in_second_before = 0, second == newest_second + RATE_WINDOW_MS and current or 0
  end
end

-- Moves all places back by as much as the clock is behind the newest; the intervals between them stay.
local function move_places()
  local shift, count = newest - now, 0
  moved = places_between(0, -1)
  for i, place in ipairs(moved) do
    local time = max(0, parse(PLACE, place) - shift)
    moved[i] = pack(PLACE, time) .. sub(place, PLACE_ID)
    count = count + (now - time < RATE_WINDOW_MS and 1 or 0)
  end
  if oldest < NEVER then
    oldest = max(0, oldest - shift)
  end
  newest, current, previous, live, head_changed = now, count, 0, count, true
  in_second, in_second_before = count, 0
end

-- Milliseconds until a place is free, 0 when there is one.
local function wait_for_place(rate)
  if taken >= rate then
    return RATE_WINDOW_MS
  end
  local position = length + taken - rate
  -- At most the places of two calendar seconds count. Only if they reach the rate is the decisive one read.
  if position < 0 or in_second + in_second_before + taken < rate then
    return 0
  end
  if wait_after ~= taken then
    local place = places_between(position, position)[1]
    wait_after, wait_then = taken, place and max(0, parse(PLACE, place) + RATE_WINDOW_MS - now) or 0
  end
  return wait_then
end

-- Places that are free.
local function places_left(rate)
  live = live or length - ended_places()
  return rate - live - taken
end

-- The place of a request that is admitted now, without its id: the same for all of a call.
local place_now

local function take_place(id)
  place_now = place_now or pack(PLACE, now)
  taken = taken + 1
  places[taken] = place_now .. id
end
