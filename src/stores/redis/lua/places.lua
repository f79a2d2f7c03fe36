-- The team's places in the general way: read from the list, or kept in memory when they were moved because the clock stepped back.

-- `rate` is how many may be taken in any second.
local function open_places(team_key, rate, now)
  local key = beside(team_key, 'places')
  local places = { key = key, rate = rate, now = now, taken = {}, moved = nil, length = call('LLEN', key) }
  function places.range(first, last)
    if not places.moved then
      return call('LRANGE', key, first, last)
    end
    local list = {}
    for i = first + 1, min(last + 1, #places.moved) do
      insert(list, places.moved[i])
    end
    return list
  end
  return places
end

-- Moves all places back by as much as the clock is behind the newest; the intervals between them stay.
local function move_places(places, head, now)
  local shift, live, moved = head.newest - now, 0, places.range(0, -1)
  for i, place in ipairs(moved) do
    local time = max(0, parse(PLACE, place) - shift)
    moved[i] = pack(PLACE, time) .. sub(place, PLACE_ID)
    live = live + (now - time < RATE_WINDOW_MS and 1 or 0)
  end
  places.moved = moved
  if head.oldest < NEVER then
    head.oldest = max(0, head.oldest - shift)
  end
  head.newest, head.current, head.previous = now, live, 0
end

-- Milliseconds until a place is free, 0 when there is one.
local function wait_for_place(places)
  local taken = #places.taken
  if taken >= places.rate then
    return RATE_WINDOW_MS
  end
  local position = places.length + taken - places.rate
  local decisive = position >= 0 and places.range(position, position)[1]
  return decisive and wait_for(parse(PLACE, decisive), places.now) or 0
end

-- How many places are left.
local function places_left(places)
  local ended = places.ended
  if not ended and places.moved then
    ended = 0
    while ended < places.length and places.now - parse(PLACE, places.moved[ended + 1]) >= RATE_WINDOW_MS do
      ended = ended + 1
    end
  end
  places.ended = ended or ended_places(places.key, places.length, places.now)
  return places.rate - (places.length - places.ended) - #places.taken
end

local function take_place(places, head, id)
  local second, newest_second = floor(places.now / RATE_WINDOW_MS), floor(head.newest / RATE_WINDOW_MS)
  if second ~= newest_second then
    head.previous, head.current = second == newest_second + 1 and head.current or 0, 0
  end
  head.newest, head.current = places.now, head.current + 1
  insert(places.taken, pack(PLACE, places.now) .. id)
end

local function write_places(places, trimmed)
  if places.moved then
    call('DEL', places.key)
    call_in_pieces('RPUSH', places.key, places.moved)
  end
  call_in_pieces('RPUSH', places.key, places.taken)
  if trimmed > 0 then
    call('LTRIM', places.key, trimmed, -1)
  end
end
