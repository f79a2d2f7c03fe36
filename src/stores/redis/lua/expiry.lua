-- Expiry of ids in the general way: leases end, and resolved ids are forgotten after a time. For that each id is looked at again.

-- Looks at one id: ends its lease when that is over, forgets it when it is due, otherwise notes when to look again. Doing it
-- twice changes nothing more.
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

-- Looks at all ids in `:late` whose time has come.
local function look_at_late(ids)
  local due = call('ZRANGEBYSCORE', ids.late_key, '-inf', digits(ids.now))
  local coming = call('ZRANGEBYSCORE', ids.late_key, '(' .. digits(ids.now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  ids.head.late = tonumber(coming[2] or nil) or NEVER
  read_records(ids, due)
  for _, id in ipairs(due) do
    -- Removes it from the list; `look` puts it back if it has to be looked at again.
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

-- Counts the places anew where the head's numbers do not fit the list.
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
