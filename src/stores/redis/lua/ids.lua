-- Ids and their places in the general way: read into tables, brought up to now, worked on by any number of operations, and
-- written back when all checks are done.

local function new_head(number)
  return {
    held = 0, held_micro = 0, number = number, newest = 0, late = 0, expires = 0, current = 0, previous = 0, length = 0, passed = 0,
    oldest = NEVER, shortest = LONGEST,
  }
end

local function read_head(packed)
  local head = {}
  head.held, head.held_micro, head.number, head.newest, head.late, head.expires, head.current, head.previous, head.length,
    head.passed, head.oldest, head.shortest = parse(HEAD, packed)
  return head
end

local function pack_head(head)
  return pack(
    HEAD, head.held, head.held_micro, head.number, head.newest, head.late, head.expires, head.current, head.previous, head.length,
    head.passed, head.oldest, head.shortest
  )
end

local function read_record(record)
  if not record then
    return false
  elseif byte(record) ~= IS_OPEN then
    local kind, until_ms = parse(DONE, record)
    return { kind = kind, until_ms = until_ms }
  end
  local kind, characters, micro, number, lease, at = parse(OPEN, record)
  return { kind = kind, characters = characters, micro = micro, number = number, lease = lease, key = sub(record, at) }
end

local function pack_record(x)
  if x.kind == IS_OPEN then
    return pack(OPEN, IS_OPEN, x.characters, x.micro, x.number, x.lease) .. x.key
  end
  return pack(DONE, x.kind, x.until_ms)
end

local function read_records(ids, wanted)
  local unread = {}
  for _, id in ipairs(wanted) do
    if ids.records[id] == nil then
      insert(unread, id)
      ids.records[id] = false
    end
  end
  for first = 1, #unread, PIECE do
    local last = min(first + PIECE - 1, #unread)
    for i, record in ipairs(call('HMGET', ids.key, unpack(unread, first, last))) do
      ids.records[unread[first + i - 1]] = read_record(record)
    end
  end
end

local function set_record(ids, id, record)
  ids.records[id], ids.changed[id], ids.dirty = record, true, true
end

local function remember(ids, id, kind, until_ms)
  set_record(ids, id, { kind = kind, until_ms = until_ms })
end

-- When there is something to see of it again.
local function look_later(ids, id, at_ms)
  ids.look[id], ids.dirty = at_ms, true
end

local function open_reservation(ids, id, record)
  local head = ids.head
  set_record(ids, id, record)
  head.held, head.held_micro = head.held + record.characters, head.held_micro + record.micro
  local lease = record.lease - ids.now
  if lease <= LOOK_MS then
    look_later(ids, id, record.lease)
  else
    ids.shortest = min(ids.shortest, lease)
  end
  ids.needed = max(ids.needed, lease)
end

local function close_reservation(ids, record)
  local head = ids.head
  head.held_micro = head.held_micro - record.micro
  if record.number == head.number then
    head.held = head.held - record.characters
  end
end

-- Ends a lease that has ended, forgets what is to be forgotten, and notes when to look again, if ever; looking twice changes
-- nothing more.
local function look(ids, id)
  local record = ids.records[id]
  if record and record.kind == IS_OPEN and record.lease <= ids.now then
    close_reservation(ids, record)
    remember(ids, id, IS_EXPIRED, record.lease + REMEMBER_MS)
    record = ids.records[id]
  end
  if record and record.kind ~= IS_OPEN and record.until_ms <= ids.now then
    set_record(ids, id, false)
    record = false
  end
  if record then
    look_later(ids, id, record.lease or record.until_ms)
  end
end

-- All that is listed to be looked at by now.
local function look_at_late(ids)
  local due = call('ZRANGEBYSCORE', ids.late_key, '-inf', digits(ids.now))
  local coming = call('ZRANGEBYSCORE', ids.late_key, '(' .. digits(ids.now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  ids.head.late = tonumber(coming[2] or nil) or NEVER
  read_records(ids, due)
  for _, id in ipairs(due) do
    -- It leaves the list, unless it is to be looked at again.
    look_later(ids, id, false)
    look(ids, id)
  end
end

-- The ids of places that are old enough, `most` of them or all.
local function look_at_places(ids, places, most)
  local head = ids.head
  while true do
    local list, wanted = places.range(head.passed, head.passed + LOOK_MAX - 1), {}
    head.oldest = NEVER
    for _, place in ipairs(list) do
      local time = parse(PLACE, place)
      if ids.now - time < LOOK_MS then
        head.oldest = time
        break
      end
      insert(wanted, sub(place, PLACE_ID))
    end
    read_records(ids, wanted)
    for _, id in ipairs(wanted) do
      look(ids, id)
    end
    head.passed, ids.looked = head.passed + #wanted, ids.looked + #wanted
    if #wanted > 0 then
      ids.dirty = true
    end
    if #list < LOOK_MAX or head.oldest < NEVER then
      break
    end
    if ids.looked >= most then
      head.oldest = parse(PLACE, places.range(head.passed, head.passed)[1] or pack(PLACE, NEVER))
      break
    end
  end
  if head.oldest == NEVER then
    head.shortest = LONGEST
  end
end

-- Where the head does not tell what lies there, it is counted anew.
local function count_places(ids, places)
  local head, list, wanted = ids.head, places.range(0, -1), {}
  for i, place in ipairs(list) do
    wanted[i] = sub(place, PLACE_ID)
  end
  read_records(ids, wanted)
  head.length, head.passed, head.oldest, head.shortest = places.length, 0, NEVER, LONGEST
  head.current, head.previous = places.length - ended_places(places.key, places.length, ids.now), 0
  for i, place in ipairs(list) do
    local time, record = parse(PLACE, place), ids.records[wanted[i]]
    head.newest, head.oldest = max(head.newest, time), min(head.oldest, time)
    if record and record.kind == IS_OPEN then
      head.shortest = max(0, min(head.shortest, record.lease - time))
    end
  end
end

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
    -- What is held in an ended period does not count against this one.
    head.number, head.held, ids.dirty = number, 0, true
  end
  if head.length ~= places.length then
    count_places(ids, places)
  end
  look_at_late(ids)
  local all = now >= head.oldest + head.shortest
  if all or worth_looking(now, head.oldest, head.length - head.passed, head.newest) or (TOSS and TOSS()) then
    look_at_places(ids, places, all and math.huge or LOOK_MAX)
  end
  return ids
end

-- What is to be done to the sorted set, by id.
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

-- The head's field, which needs memory, is written first: a full server refuses a script its first write only.
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
