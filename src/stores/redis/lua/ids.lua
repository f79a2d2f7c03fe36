-- A team's ids in the general way, brought up to now when they are opened, and written back.

-- `number` is the period's, `wanted` are ids that will be asked for.
local function open_ids(places, team_key, now, number, wanted)
  local ids = {
    key = beside(team_key, 'ids'), late_key = beside(team_key, 'late'), now = now, records = {}, changed = {}, look = {},
    shortest = LONGEST, needed = 0, looked = 0, places = places, dirty = false,
  }
  local got = call('HMGET', ids.key, 'h', unpack(wanted))
  for i, id in ipairs(wanted) do
    ids.records[id] = read_record(got[i + 1])
  end
  local head = got[1] and read_head(got[1]) or new_head(number)
  ids.head = head
  if head.number ~= number then
    -- Reservations of an ended period do not count against this one.
    head.number, head.held, ids.dirty = number, 0, true
  end
  if head.length ~= places.length then
    count_places(ids, places)
  end
  look_at_late(ids)
  local oldest, unlooked, newest = head.oldest, head.length - head.passed, head.newest
  local all = now >= oldest + head.shortest
  if all or IS_WORTH_LOOKING or (TOSS and TOSS()) then
    look_at_places(ids, places, all and math.huge or LOOK_MAX)
  end
  return ids
end

-- The changes of `:late`, by id.
local function late_changes(ids)
  local added, removed = {}, {}
  for id, at_ms in pairs(ids.look) do
    if at_ms then
      insert(added, digits(at_ms))
      insert(added, id)
      ids.head.late = min(ids.head.late, at_ms)
    else
      insert(removed, id)
    end
  end
  return added, removed
end

local function record_changes(ids)
  local kept, dropped = { 'h', '' }, {}
  for id in pairs(ids.changed) do
    local record = ids.records[id]
    if record then
      insert(kept, id)
      insert(kept, pack_record(record))
    else
      insert(dropped, id)
    end
  end
  return kept, dropped
end

-- The head is written first, because it needs memory: a full server refuses only the first write of a script.
local function write_ids(ids, places)
  local head, taken = ids.head, #places.taken
  if not ids.dirty and taken == 0 then
    return
  end
  local added, removed = late_changes(ids)
  local kept, dropped = record_changes(ids)
  local until_ms = ids.now + ids.needed + REMEMBER_MS
  local renewed = head.expires < until_ms or head.length == 0 or places.moved or #added > 0
  if head.expires < until_ms then
    head.expires = until_ms + SPARE_MS
  end
  head.length = head.length + taken
  if taken > 0 then
    head.oldest, head.shortest = min(head.oldest, ids.now), min(head.shortest, ids.shortest)
  end
  local trimmed = ids.looked > 0 and max(0, min(head.passed, head.length - places.rate)) or 0
  head.length, head.passed = head.length - trimmed, head.passed - trimmed
  if head.length > WIDE_FROM then
    insert(kept, 'w')
    insert(kept, WIDE)
  end
  kept[2] = pack_head(head)
  call_in_pieces('HSET', ids.key, kept)
  write_places(places, trimmed)
  call_in_pieces('HDEL', ids.key, dropped)
  call_in_pieces('ZREM', ids.late_key, removed)
  call_in_pieces('ZADD', ids.late_key, added)
  if renewed then
    for _, key in ipairs({ ids.key, places.key, ids.late_key }) do
      call('PEXPIRE', key, head.expires - ids.now)
    end
  end
end
