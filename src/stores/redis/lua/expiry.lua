-- Expiry: leases end, and resolved ids are deleted after some time. For that, each id is checked again later.
--@ uses constants: REMEMBER_MS, OPEN, DONE, DONE_BYTES, SLOT
--@ uses shared: call, max, min, insert, unpack, sub, pack, parse, digits, PIECE
--@ uses layout: open_key, IS_OPEN, IS_OF_ALLOWANCE, IS_TAGGED, IS_EXPIRED, SLOT_ID, NEVER, LONGEST, LOOK_MS
--@ uses call: op_id
--@ uses state: now, number, ids_key, slots_key, records, single_record, key_beside, put_record, forget_record, look_later
--@ uses state: close_reservation
--@ changes state: newest, late, current, previous, length, passed, oldest, shortest, head_changed, single, left_over
--@ uses guards: guarding
--@ uses allowance: allowance
--@ uses windows: windows
--@ uses tag_limits: tagging
--@ uses window: ended_slots, slots_between
--@ gives expiry

local expiry = {}

do
  -- How many ids are checked together: fewer are not worth a read, more would make other teams wait.
  local LOOK_MIN, LOOK_MAX = 32, 128

  local function read_records(wanted)
    local unread = {}
    left_over = true
    if single then
      records[op_id[single]], single = single_record, nil
    end
    for _, id in ipairs(wanted) do
      if records[id] == nil then
        insert(unread, id)
      end
    end
    for first = 1, #unread, PIECE do
      local last = min(first + PIECE - 1, #unread)
      for i, record in ipairs(call('HMGET', ids_key, unpack(unread, first, last))) do
        records[unread[first + i - 1]] = record
      end
    end
  end

  -- Checks an id: expires its lease, or deletes it if it is due, otherwise records when to check again. Idempotent.
  local function look(id)
    local record = records[id]
    if not record then
      return
    end
    local until_ms
    if #record > DONE_BYTES then
      local state, characters, micro, reserved_in, lease = parse(OPEN, record)
      if lease > now then
        look_later(id, lease)
        return
      end
      close_reservation(characters, micro, reserved_in)
      allowance.release(state, characters, reserved_in)
      if reserved_in == number then
        guarding.expire(open_key(record), characters)
      end
      if state % IS_OF_ALLOWANCE ~= IS_OPEN then
        windows.release(record, characters)
      end
      if state >= IS_TAGGED then
        tagging.release(record, characters, reserved_in)
      end
      until_ms = lease + REMEMBER_MS
      put_record(id, pack(DONE, IS_EXPIRED, until_ms))
    else
      until_ms = select(2, parse(DONE, record))
    end
    if until_ms > now then
      look_later(id, until_ms)
    else
      forget_record(id)
    end
  end

  -- Checks all ids in `:late` that are due.
  function expiry.look_at_late()
    local late_key = key_beside('late')
    local due = call('ZRANGEBYSCORE', late_key, '-inf', digits(now))
    local coming = call('ZRANGEBYSCORE', late_key, '(' .. digits(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    late, head_changed = tonumber(coming[2] or nil) or NEVER, true
    read_records(due)
    for _, id in ipairs(due) do
      -- Removes it from the list; `look` adds it again if necessary.
      look_later(id, false)
      look(id)
    end
  end

  -- Checks the ids of slots that are old enough: `all`, or as many as are checked together.
  function expiry.look_at_slots(all)
    local looked = 0
    while true do
      local list, wanted = slots_between(passed, passed + LOOK_MAX - 1), {}
      oldest = NEVER
      for i, slot in ipairs(list) do
        local time = parse(SLOT, slot)
        if now - time < LOOK_MS then
          oldest = time
          break
        end
        wanted[i] = sub(slot, SLOT_ID)
      end
      read_records(wanted)
      for _, id in ipairs(wanted) do
        look(id)
      end
      passed, looked = passed + #wanted, looked + #wanted
      if #list < LOOK_MAX or oldest < NEVER then
        break
      end
      if not all then
        local next_slot = slots_between(passed, passed)[1]
        oldest = next_slot and parse(SLOT, next_slot) or NEVER
        break
      end
    end
    head_changed = head_changed or looked > 0
    if oldest == NEVER then
      shortest = LONGEST
    end
  end

  -- Whether enough slots are old to make reading them worthwhile.
  function expiry.is_worth_looking()
    local old = now - LOOK_MS - oldest
    return old > 0 and old * (length - passed) >= LOOK_MIN * (newest - oldest + 1)
  end

  -- Recounts the slots if the head does not match the list.
  function expiry.count_slots()
    local listed = call('LLEN', slots_key)
    if length == listed then
      return
    end
    local list, wanted = slots_between(0, -1), {}
    for i, slot in ipairs(list) do
      wanted[i] = sub(slot, SLOT_ID)
    end
    read_records(wanted)
    length, passed, oldest, shortest, head_changed = listed, 0, NEVER, LONGEST, true
    current, previous = length - ended_slots(), 0
    for i, slot in ipairs(list) do
      local time, record = parse(SLOT, slot), records[wanted[i]]
      newest, oldest = max(newest, time), min(oldest, time)
      if record and #record > DONE_BYTES then
        shortest = max(0, min(shortest, select(5, parse(OPEN, record)) - time))
      end
    end
  end
end
