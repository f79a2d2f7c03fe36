-- Rates by second: a list of when the last requests passed rule 3, the newest last, for each subject that has a rate. A request may
-- pass if the one that is `rate` entries back is at least a second old, so that the window is exact at every instant.

-- More than this beside the rate are cut off.
local SPARE_SLOTS = 128

-- The latest time of any operation here: only behind it can there be slots that were taken later. After a failover it is not known, and a
-- subject may wait for a second.
local latest = 0

-- If the clock has stepped back, all slots move with it, so that the newest counts as taken now.
local function move_slots(list, now)
  local slots = call('LRANGE', list, 0, -1)
  local newest = now
  for i = 1, #slots do
    newest = max(newest, tonumber(slots[i]))
  end
  for i = 1, #slots do
    slots[i] = format('%d', slots[i] - (newest - now))
  end
  call('DEL', list)
  for i = 1, #slots do
    call('RPUSH', list, slots[i])
  end
end

-- Milliseconds until the subject of this list may have another request.
local function wait_for_slot(list, rate, now)
  if now >= latest then
    latest = now
  elseif tonumber(call('LINDEX', list, -1) or 0) > now then
    move_slots(list, now)
  end
  local at = call('LINDEX', list, -rate)
  if not at or now - at >= SECOND_MS then
    return 0
  end
  if tonumber(at) > now or tonumber(call('LINDEX', list, -1)) > now then
    move_slots(list, now)
    at = call('LINDEX', list, -rate)
  end
  return max(0, SECOND_MS - (now - at))
end

-- `report`: what is taken is counted afterwards, for which the list must be in order of time.
local function take_slot(list, rate, moment, report)
  if report and tonumber(call('LINDEX', list, '-1') or 0) > moment.ms then
    move_slots(list, moment.ms)
  end
  if call('RPUSH', list, moment.text) > rate + SPARE_SLOTS then
    call('LTRIM', list, -rate, -1)
  end
end

-- How many slots are taken, of a list whose newest is of now: the first that is younger than a second is found by halving. Those before
-- it are cut off, so that they do not count again if the clock steps back.
local function slots_taken(list, rate, now)
  local low, high = 1, min(rate, call('LLEN', list))
  while low < high do
    local middle = floor((low + high + 1) / 2)
    if now - call('LINDEX', list, -middle) < SECOND_MS then
      low = middle
    else
      high = middle - 1
    end
  end
  call('LTRIM', list, -low, -1)
  return low
end
