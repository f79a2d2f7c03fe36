-- Opens the account of a team, and writes it.

local begin, open_account, write_account

-- A table for each key of the account, as many as `key_count`; the next account uses them again.
local key_states, key_count = {}, 0

do
  -- Plans by their bytes: many teams have the same.
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

  -- The keys of teams that were here before: making a name costs as much as writing a field.
  local names_of, names_count = {}, 0
  local NAMES_MAX = 2000

  local function name_keys(key)
    if names_count >= NAMES_MAX then
      names_of, names_count = {}, 0
    end
    local of = sub(key, 1, -5)
    local names = { prefix = of, ids = of .. 'ids', places = of .. 'places' }
    names_of[key], names_count = names, names_count + 1
    return names
  end

  -- To be called before the accounts of a call, which all have the same time.
  function begin(at_ms)
    now, today, place_now, done_now = at_ms, (at_ms - at_ms % DAY_MS) / DAY_MS, nil, {}
  end

  -- What is read of the team: its books, and the keys that operations name, or that hold what is resolved.
  local wanted = { 'b' }
  -- Where events are kept, what was told of the period as well.
  local KEEPS_EVENTS = events.rules ~= nil
  local BEFORE_KEYS = KEEPS_EVENTS and 2 or 1
  if KEEPS_EVENTS then
    wanted[2] = 't'
  end

  -- Notes what is stored of the operations' ids, and the key of each. Returns whether there is an admission.
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

  -- Reads what the keys were last counted as, which may be in an earlier period. Returns those with limits, nil for none.
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

  -- The bounds of a period are seldom needed, and what they are computed from is read only then. Returns the team where they are
  -- needed and not offered.
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
    -- A head that is not there, or that was written when the list had changed, has to be compared with the list.
    if not packed or late == 0 then
      count_places()
    end
    if held_in ~= number then
      held, held_in, head_changed = 0, number, true
    end
  end

  -- Reads a team for the operations from `first` to `last` (0 for none). Returns false when there is none, with what is known of it
  -- when the bounds of a period are needed.
  function open_account(key, first, last, offer)
    local names = names_of[key] or name_keys(key)
    team_key, prefix, ids_key, places_key = key, names.prefix, names.ids, names.places
    if left_over then
      records, keys = {}, {}
    end
    written, taken, longest_lease, shortest_lease, left_over = 2, 0, 0, LONGEST, 'operations'
    use, key_days, look_at, dropped, moved, live, wait_after, guards, books_changed, head_changed =
      nil, nil, nil, nil, nil, nil, nil, nil, false, false
    local got = call('HMGET', ids_key, 'h', unpack(op_id, first, last))
    local admits = read_operations(first, last, got)
    local count, plan_at = BEFORE_KEYS + key_count, nil
    -- Settlements alone do without the plan.
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
      look_at_places(NEVER)
    elseif admits and is_worth_looking() then
      look_at_places(LOOK_MAX)
    end
    if admits then
      turn_to_this_second()
    end
    return true
  end
end

-- A block of its own, because a function in Lua may have at most 200 local variables at a time.
do
  -- Redis keys expire this much later than needed, so that their expiry is renewed about once a minute.
  local SPARE_MS = 60000
  -- From this many places on the hash of ids is made to use a hash table: Redis changes to one when a value is longer than 64 bytes.
  local WIDE_FROM = 32
  local WIDE = '-----------------------------------------------------------------'
  -- Where the head goes on behind the held characters and micro.
  local BEHIND_HELD = 15

  -- Commands take as many values as Lua's stack has room for; mostly these are all. Returns the last reply.
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

  -- The first write of an account that has taken places: the list was not read, and may have a wrong type. Nothing has changed then.
  local function push_places()
    local before, pushed, count = length, places, taken
    if moved then
      pushed, count = moved, before + taken
      for i = 1, taken do
        moved[before + i] = places[i]
      end
    end
    if count > 0 and write('RPUSH', places_key, pushed, count) ~= before + count then
      -- Another program has changed the list: the next call counts it again.
      late = 0
    end
    if moved then
      call('LTRIM', places_key, before, -1)
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
    -- Read, so that a key of a wrong type fails before anything is written.
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
      push_places()
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
      call('LTRIM', places_key, trimmed, -1)
    end
    if look_at then
      call_in_pieces('ZREM', key_beside('late'), removed)
      call_in_pieces('ZADD', key_beside('late'), added)
    end
    if renewed then
      call('PEXPIRE', ids_key, expires - now)
      call('PEXPIRE', places_key, expires - now)
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
    if added < today and tonumber(call('HGET', key_beside('days'), TOLD) or 0) >= added then
      -- The clock has stepped back: a day that was told has more.
      insert(changed, TOLD)
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

  -- With what the team has used by now, in which the writes of this call are.
  local function tell_percents(reached)
    local usage = { events.texts(call('HGETALL', team_key)), events.texts(call('HGETALL', key_beside('keys'))) }
    for _, percent in ipairs(reached) do
      events.keep(team_key, events.quota_id(team_key, starts, percent), now, 'quota', { digits(percent), usage[1], usage[2] })
    end
    call('HSET', team_key, 't', pack('>dd', number, reached[#reached]))
  end

  -- Returns what a charge has reached; what is read here fails before anything is written, if it has a wrong type.
  local function reached_by_charges()
    local percents = events.percents_reached(plan, events.told_in(events.percents, number), used)
    local credit = plan[BILLING] == 1 and events.credit_reached(events.balance, balance)
    if credit or percents ~= NONE then
      events.look(team_key)
      call('HLEN', key_beside('keys'))
    end
    return percents, credit
  end

  -- With the operations that it was opened for.
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
      events.tell_credit(team_key, now, events.balance, balance, call('HGET', team_key, 'currency'))
    end
    if percents ~= NONE then
      tell_percents(percents)
    end
    -- Emptied by what was put in them, which costs less than new ones.
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
