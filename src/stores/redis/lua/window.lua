-- The team's rate window: the newest of its places. An admission looks at one of them, the one that is `rate` places back.

-- How many of the stored places, oldest first, no longer count. Searches by halves: places are in order.
local function ended_places(places_key, length, now)
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

local function wait_for(place_ms, now)
  return max(0, place_ms + RATE_WINDOW_MS - now)
end
