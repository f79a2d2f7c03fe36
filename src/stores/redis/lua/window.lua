-- The team's rate window: a list of the slots taken. An admission reads only the slot that is `rate` places back.
--@ uses constants: RATE_WINDOW_MS, SLOT
--@ uses shared: call, floor, max, min, insert, sub, pack, parse
--@ uses layout: SLOT_ID, NEVER
--@ uses state: now, length, slots_key, rare, rarely
--@ changes state: newest, current, previous, oldest, head_changed
--@ gives slots, taken, this_second, in_second, in_second_before, ended_slots, slots_between, open_window, move_slots
--@ gives wait_for_slot, slots_left, slot_now, take_slot

-- Slots taken in this call, which are not in the list yet.
local slots, taken = {}, 0
-- The beginning of the current calendar second, the slots taken in it, and in the one before.
local this_second, in_second, in_second_before
-- `live`: how many slots of the list count now. `wait_then`: the wait that the decisive slot requires, once `wait_after` slots
-- were taken in this call.
local live, wait_after, wait_then

-- How many of the stored slots have expired: a binary search, because slots are in order.
local function ended_slots()
  local low, high = 0, length
  while low < high do
    local middle = floor((low + high) / 2)
    local slot = call('LINDEX', slots_key, middle)
    if not slot or now - parse(SLOT, slot) >= RATE_WINDOW_MS then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- The slots of the list from `first` to `last`, zero-based.
local function slots_between(first, last)
  if not (rare and rare.moved) then
    return call('LRANGE', slots_key, first, last)
  end
  local list, moved = {}, rare.moved
  for i = first + 1, min(last + 1, #moved) do
    insert(list, moved[i])
  end
  return list
end

-- Must be called before admissions. The head counts the slots of the newest slot's calendar second and of the one before.
local function open_window()
  local newest_second = newest - newest % RATE_WINDOW_MS
  live, wait_after = nil, nil
  if this_second == newest_second then
    in_second, in_second_before = current, previous
  else
    in_second, in_second_before = 0, this_second == newest_second + RATE_WINDOW_MS and current or 0
  end
end

-- Moves all slots back by as much as the clock is behind the newest, keeping the intervals between them.
local function move_slots()
  local shift, count, moved = newest - now, 0, rarely('moved')
  for i, slot in ipairs(call('LRANGE', slots_key, 0, -1)) do
    local time = max(0, parse(SLOT, slot) - shift)
    moved[i] = pack(SLOT, time) .. sub(slot, SLOT_ID)
    count = count + (now - time < RATE_WINDOW_MS and 1 or 0)
  end
  if oldest < NEVER then
    oldest = max(0, oldest - shift)
  end
  newest, current, previous, live, head_changed = now, count, 0, count, true
  in_second, in_second_before = count, 0
end

-- Milliseconds until a slot is free, 0 if one is.
local function wait_for_slot(rate)
  if taken >= rate then
    return RATE_WINDOW_MS
  end
  local position = length + taken - rate
  -- Only slots of two calendar seconds can count. The decisive slot is read only if these reach the rate.
  if position < 0 or in_second + in_second_before + taken < rate then
    return 0
  end
  if wait_after ~= taken then
    local slot = slots_between(position, position)[1]
    wait_after, wait_then = taken, slot and max(0, parse(SLOT, slot) + RATE_WINDOW_MS - now) or 0
  end
  return wait_then
end

-- The number of free slots.
local function slots_left(rate)
  live = live or length - ended_slots()
  return rate - live - taken
end

-- The slot of a request that is admitted now, without its id; the same for the whole call.
local slot_now

local function take_slot(id)
  slot_now = slot_now or pack(SLOT, now)
  taken = taken + 1
  slots[taken] = slot_now .. id
end
