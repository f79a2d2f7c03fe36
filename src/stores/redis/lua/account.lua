-- Opens a team's account and writes it.

local begin, open_account, write_account

-- The first `key_count` tables belong to the keys of the account; the next account reuses them.
local key_states, key_count = {}, 0

do
  -- Plans by their bytes, because many teams share the same.
  local plans, plan_count = {}, 0
  local PLANS_MAX = 100

  local function plan_of(packed)
    local known = plans[packed]
    if not known then
      if plan_count >= PLANS_MAX then
        plans, plan_count = {}, 0
      end
      known = read_plan(packed)
      plans[packed], plan_count = known, plan_count + 1
    end
    return known
  end

  -- Key names by team: building a name costs as much as writing a field.
  local names_of, names_count = {}, 0
  local NAMES_MAX = 2000

  local function name_keys(key)
    if names_count >= NAMES_MAX then
      names_of, names_count = {}, 0
    end
    local of = sub(key, 1, -5)
    local names = { prefix = of, ids = of .. 'ids', slots = of .. 'places' }
    names_of[key], names_count = names, names_count + 1
    return names
  end

  -- Must be called before the accounts of a call, which all use the same time.
  function begin(at_ms)
    now, today, slot_now, done_now = at_ms, (at_ms - at_ms % DAY_MS) / DAY_MS, nil, {}
  end

  -- The fields to read: the team's books, and the keys that operations name or that hold what is resolved.
  local wanted = { 'b' }
  -- If events are stored, also the last percentage reported.
  local KEEPS_EVENTS = events.rules ~= nil
  local BEFORE_KEYS = KEEPS_EVENTS and 2 or 1
  if KEEPS_EVENTS then
    wanted[2] = 't'
  end

  -- Records what is stored for the operations' ids, and the key of each. Returns whether there is an admission.
  local function read_operations(first, last, got)
    local states, count, admits, offset = key_states, 0, false, 2 - first
    for i = first, last do
      local record, key = got[i + offset], nil
      records[op_id[i]] = record
      if op_what[i] >= ADMISSION then
        key, admits = op_key[i], true
      elseif record and byte(record) == IS_OPEN then
        key = sub(record, OPEN_KEY)
      end
      if key and keys[key] == nil then
        count = count + 1
        local state = states[count]
        if not state then
          state = { id = '', field = '', active = 0, last_use = 0, number = 0, characters = 0, requests = 0, day = 0, changed = false }
          states[count] = state
        end
        local field = 'k' .. key
        state.id, state.field, state.changed, keys[key], wanted[BEFORE_KEYS + count] = key, field, false, state, field
      end
    end
    key_count = count
    return admits
  end

  -- Decodes the keys' counts, which may be of an earlier period. Returns those with limits, nil for none.
  local function read_keys(stored)
    local guarded
    for i = 1, key_count do
      local key, packed = key_states[i], stored[BEFORE_KEYS + i]
      if packed then
        key.active, key.last_use, key.number, key.characters, key.requests, key.day = parse(KEY, #packed < KEY_BYTES and with_day(packed) or packed)
        if key.active == GUARDED then
          guarded = guarded or {}
          insert(guarded, key.id)
        end
      else
        keys[key.id] = false
      end
    end
    return guarded
  end

  -- The period's parameters are read only if the period has ended, which is rare. Returns the team if bounds are needed and
  -- were not offered.
  local function follow_account_period(offer)
    local team = read_team(team_key)
    if not follow_period(team, offer, now) then
      return team
    end
    number, starts, ends, used, books_changed = team.number, team.starts, team.ends, team.used, true
    use = next(team.use) and team.use or nil
    return nil
  end

  local function read_head(packed)
    head = packed
    if packed then
      held, held_micro, held_in, newest, late, expires, current, previous, length, passed, oldest, shortest = parse(HEAD, packed)
    else
      held, held_micro, held_in, newest, late, expires, current, previous, length, passed, oldest, shortest =
        0, 0, number, 0, NEVER, 0, 0, 0, 0, 0, NEVER, LONGEST
    end
    -- A missing head, or one written after the list was found changed, has to be compared with the list.
    if not packed or late == 0 then
      count_slots()
    end
    if held_in ~= number then
      held, held_in, head_changed = 0, number, true
    end
  end

  -- Reads a team for the operations from `first` to `last` (0 for none). Returns false if there is no team, and additionally
  -- its parameters if the bounds of a period are needed.
  function open_account(key, first, last, offer)
    local names = names_of[key] or name_keys(key)
    team_key, prefix, ids_key, slots_key = key, names.prefix, names.ids, names.slots
    if left_over then
      records, keys = {}, {}
    end
    written, taken, longest_lease, shortest_lease, left_over = 2, 0, 0, LONGEST, 'operations'
    use, key_days, look_at, dropped, moved, live, wait_after, guards, books_changed, head_changed =
      nil, nil, nil, nil, nil, nil, nil, nil, false, false
    local got = call('HMGET', ids_key, 'h', unpack(op_id, first, last))
    local admits = read_operations(first, last, got)
    local count, plan_at = BEFORE_KEYS + key_count, nil
    -- Settlements alone do not need the plan.
    if admits or first > last or KEEPS_EVENTS then
      count = count + 1
      plan_at, wanted[count] = count, 'p'
    end
    local stored = call('HMGET', team_key, unpack(wanted, 1, count))
    if not stored[1] or plan_at and not stored[plan_at] then
      return false
    end
    plan = plan_at and plan_of(stored[plan_at])
    number, starts, ends, used, balance = parse(BOOKS, stored[1])
    if KEEPS_EVENTS then
      events.balance, events.percents = balance, stored[2]
    end
    local undone = now >= ends and follow_account_period(offer)
    if undone then
      return false, undone
    end
    local guarded = read_keys(stored)
    read_head(got[1])
    if guarded then
      guarding.open(guarded)
      guarding.fit()
    end
    if now >= late then
      look_at_late()
    end
    if now >= oldest + shortest then
      look_at_slots(NEVER)
    elseif admits and is_worth_looking() then
      look_at_slots(LOOK_MAX)
    end
    if admits then
      turn_to_this_second()
    end
    return true
  end
end

-- In a separate block, because a Lua function may have at most 200 local variables at a time.
do
  -- Redis keys expire this much later than necessary, so that their expiry is renewed about once a minute.
  local SPARE_MS = 60000
  -- With more slots than this, the hash of ids is forced to use a hash table: Redis switches to one for values longer than 64
  -- bytes.
  local WIDE_FROM = 32
  local WIDE = '-----------------------------------------------------------------'
  -- Position in the head after the held characters and micro.
  local BEHIND_HELD = 15

  -- Lua's stack limits the number of values per command; usually one command is enough. Returns the last reply.
  local function write(command, key, values, count)
    if count <= PIECE then
      return call(command, key, unpack(values, 1, count))
    end
    local reply
    for first = 1, count, PIECE do
      reply = call(command, key, unpack(values, first, min(first + PIECE - 1, count)))
    end
    return reply
  end

  -- The first write of an account that has taken slots: the list was not read and may have the wrong type, so nothing may be
  -- changed before.
  local function push_slots()
    local before, pushed, count = length, slots, taken
    if moved then
      pushed, count = moved, before + taken
      for i = 1, taken do
        moved[before + i] = slots[i]
      end
    end
    if count > 0 and write('RPUSH', slots_key, pushed, count) ~= before + count then
      -- Another program has changed the list: the next call recounts it.
      late = 0
    end
    if moved then
      call('LTRIM', slots_key, before, -1)
    end
    length, head_changed = before + taken, true
    if taken > 0 then
      newest, current, previous = now, in_second + taken, in_second_before
      oldest = oldest < now and oldest or now
      shortest = shortest < shortest_lease and shortest or shortest_lease
    end
    if length > WIDE_FROM and (before <= WIDE_FROM or not head) then
      put_record('w', WIDE)
      left_over = 'others'
    end
  end

  -- The changes of `:late`, by id.
  local function late_changes()
    local added, removed = {}, {}
    -- A key of the wrong type fails here, before anything is written.
    call('ZCARD', key_beside('late'))
    for id, at_ms in pairs(look_at) do
      if at_ms then
        insert(added, digits(at_ms))
        insert(added, id)
        late = min(late, at_ms)
      else
        insert(removed, id)
      end
    end
    head_changed = true
    return added, removed
  end

  local function drop_records()
    local gone = {}
    for _, id in ipairs(dropped) do
      -- It may have been admitted again in this call.
      if not records[id] then
        insert(gone, id)
      end
    end
    call_in_pieces('HDEL', ids_key, gone)
  end

  local function write_ids()
    local added, removed
    if look_at then
      added, removed = late_changes()
    end
    local until_ms = now + longest_lease + REMEMBER_MS
    local renewed = moved or taken > 0 and length == 0 or added and #added > 0
    if expires < until_ms then
      expires, head_changed, renewed = until_ms + SPARE_MS, true, true
    end
    if taken > 0 or moved then
      push_slots()
    end
    local trimmed = head_changed and passed > 0 and plan and min(passed, length - plan[REQUESTS_PER_SECOND]) or 0
    if trimmed > 0 then
      length, passed = length - trimmed, passed - trimmed
    end
    if head_changed or not head then
      fields[2] = pack(HEAD, held, held_micro, number, newest, late, expires, current, previous, length, passed, oldest, shortest)
    else
      fields[2] = pack(HEAD_HELD, held, held_micro) .. sub(head, BEHIND_HELD)
    end
    write('HSET', ids_key, fields, written)
    if dropped then
      drop_records()
    end
    if trimmed > 0 then
      call('LTRIM', slots_key, trimmed, -1)
    end
    if look_at then
      call_in_pieces('ZREM', key_beside('late'), removed)
      call_in_pieces('ZADD', key_beside('late'), added)
    end
    if renewed then
      call('PEXPIRE', ids_key, expires - now)
      call('PEXPIRE', slots_key, expires - now)
      if late < NEVER then
        call('PEXPIRE', key_beside('late'), expires - now)
      end
    end
  end

  local function write_days(of_keys)
    local changed, added = {}, NEVER
    for key, of in pairs(of_keys) do
      if of.changed then
        insert(changed, key)
        insert(changed, days.record(of))
        added = min(added, of.added or NEVER)
      end
    end
    if added < today and tonumber(call('HGET', key_beside('days'), DAYS_DONE) or 0) >= added then
      -- The clock went back: a day that was complete has grown.
      insert(changed, DAYS_DONE)
      insert(changed, digits(added - 1))
    end
    if #changed > 0 then
      write('HSET', key_beside('days'), changed, #changed)
    end
  end

  local team_fields = {}

  local function write_team()
    local count = 0
    for i = 1, key_count do
      local key = key_states[i]
      if key.changed then
        team_fields[count + 1], team_fields[count + 2] = key.field, pack(KEY, key.active, key.last_use, key.number, key.characters, key.requests, key.day)
        count = count + 2
      end
    end
    if guards then
      count = guarding.write(team_fields, count)
    end
    if books_changed then
      team_fields[count + 1], team_fields[count + 2], count = 'b', pack(BOOKS, number, starts, ends, used, balance), count + 2
    end
    if count > 0 then
      write('HSET', team_key, team_fields, count)
    end
    if use then
      write_use(team_key, use)
    end
    if key_days then
      write_days(key_days)
    end
  end

  -- Includes the team's usage as of now, with the writes of this call.
  local function report_percents(reached)
    local usage = { events.texts(call('HGETALL', team_key)), events.texts(call('HGETALL', key_beside('keys'))) }
    for _, percent in ipairs(reached) do
      events.keep(team_key, events.quota_id(team_key, starts, percent), now, 'quota', { digits(percent), usage[1], usage[2] })
    end
    call('HSET', team_key, 't', pack('>dd', number, reached[#reached]))
  end

  -- Returns the thresholds that charges have reached; keys of the wrong type fail here, before anything is written.
  local function reached_by_charges()
    local percents = events.percents_reached(plan, events.last_percent(events.percents, number), used)
    local credit = plan[BILLING] == 1 and events.credit_reached(events.balance, balance)
    if credit or percents ~= NONE then
      events.look(team_key)
      call('HLEN', key_beside('keys'))
    end
    return percents, credit
  end

  -- `first` and `last` as for `open_account`.
  function write_account(first, last)
    local percents, credit = NONE, false
    if books_changed and events.rules then
      percents, credit = reached_by_charges()
    end
    if written > 2 or taken > 0 or head_changed or look_at then
      write_ids()
    end
    write_team()
    if credit then
      events.report_credit(team_key, now, events.balance, balance, call('HGET', team_key, 'currency'))
    end
    if percents ~= NONE then
      report_percents(percents)
    end
    -- Removing single entries costs less than creating new tables.
    if left_over == 'operations' then
      for i = first, last do
        records[op_id[i]] = nil
      end
      for i = 1, key_count do
        keys[key_states[i].id] = nil
      end
      left_over = nil
    end
  end
end
