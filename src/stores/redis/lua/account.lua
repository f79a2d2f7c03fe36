-- Opens the account of a team, and writes it.

local begin, open_account, write_account

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

  -- To be called before the accounts of a call, which all have the same time.
  function begin(at_ms)
    now, today, place_now, done_now = at_ms, (at_ms - at_ms % DAY_MS) / DAY_MS, nil, {}
  end

  -- What is read of the team: `wanted_key` has the keys that operations name, or that hold what is resolved.
  local wanted, wanted_key = { 'p', 'b' }, {}
  -- Where events are kept, what was told of the period as well.
  local BEFORE_KEYS = events.rules and 3 or 2
  if events.rules then
    wanted[3] = 't'
  end

  -- Notes what is stored of the operations' ids, and the key of each. Returns how many fields of the team are wanted, and whether
  -- there is an admission.
  local function read_operations(first, last, got)
    local count, admits = BEFORE_KEYS, false
    for i = first, last do
      local record, key = got[i - first + 2], nil
      records[op_id[i]] = record
      if op_what[i] >= ADMISSION then
        key, admits = op_key[i], true
      elseif record and byte(record) == IS_OPEN then
        key = sub(record, OPEN_KEY)
      end
      if key and keys[key] == nil then
        count = count + 1
        keys[key], wanted[count], wanted_key[count] = false, 'k' .. key, key
      end
    end
    return count, admits
  end

  -- Their tables are used again by the next account.
  local key_states = {}

  -- As it was last counted, which may be in an earlier period.
  local function read_key(i, packed)
    local key = key_states[i]
    if not key then
      key = { field = '', active = 0, last_use = 0, number = 0, characters = 0, requests = 0, day = 0, changed = false }
      key_states[i] = key
    end
    key.active, key.last_use, key.number, key.characters, key.requests, key.day = parse(KEY, #packed < KEY_BYTES and with_day(packed) or packed)
    key.field, key.changed = wanted[i], false
    return key
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
    places_key = nil
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
    team_key, prefix = key, sub(key, 1, -5)
    ids_key = prefix .. 'ids'
    records, keys, written, taken, longest_lease, shortest_lease = {}, {}, 2, 0, 0, LONGEST
    use, key_days, look_at, dropped, moved, live, wait_after, guards, books_changed, head_changed =
      nil, nil, nil, nil, nil, nil, nil, nil, false, false
    local got = call('HMGET', ids_key, 'h', unpack(op_id, first, last))
    local count, admits = read_operations(first, last, got)
    local stored = call('HMGET', team_key, unpack(wanted, 1, count))
    if not stored[1] or not stored[2] then
      return false
    end
    plan = plan_of(stored[1])
    number, starts, ends, used, balance = parse(BOOKS, stored[2])
    if events.rules then
      events.balance, events.percents = balance, stored[3]
    end
    local undone = now >= ends and follow_account_period(offer)
    if undone then
      return false, undone
    end
    local guarded
    for i = BEFORE_KEYS + 1, count do
      if stored[i] then
        local known = read_key(i, stored[i])
        keys[wanted_key[i]] = known
        if known.active == GUARDED then
          guarded = guarded or {}
          insert(guarded, wanted_key[i])
        end
      end
    end
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

  -- The first write of an account that has taken places: the list was not read, and may have a wrong type. Nothing has changed then.
  local function push_places()
    local before, pushed, count = length, places, taken
    if moved then
      pushed, count = moved, length + taken
      for i = 1, taken do
        moved[length + i] = places[i]
      end
    end
    local listed = length + count
    for first = 1, count, PIECE do
      listed = call('RPUSH', key_of_places(), unpack(pushed, first, min(first + PIECE - 1, count)))
    end
    if listed ~= length + count then
      -- Another program has changed the list: the next call counts it again.
      late = 0
    end
    if moved then
      call('LTRIM', key_of_places(), length, -1)
    end
    length, head_changed = length + taken, true
    if taken > 0 then
      newest, current, previous = now, in_second + taken, in_second_before
      oldest, shortest = min(oldest, now), min(shortest, shortest_lease)
    end
    if length > WIDE_FROM and (before <= WIDE_FROM or not head) then
      put_record('w', WIDE)
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

  -- Writes the first `count` of these fields and values.
  local function write_fields(key, values, count)
    for first = 1, count, PIECE do
      call('HSET', key, unpack(values, first, min(first + PIECE - 1, count)))
    end
  end

  local function write_ids()
    local added, removed
    if look_at then
      added, removed = late_changes()
    end
    local until_ms = now + longest_lease + REMEMBER_MS
    local renewed = expires < until_ms or moved or taken > 0 and length == 0 or added and #added > 0
    if expires < until_ms then
      expires, head_changed = until_ms + SPARE_MS, true
    end
    if taken > 0 or moved then
      push_places()
    end
    local trimmed = head_changed and min(passed, length - plan[REQUESTS_PER_SECOND]) or 0
    if trimmed > 0 then
      length, passed = length - trimmed, passed - trimmed
    end
    if head_changed or not head then
      fields[2] = pack(HEAD, held, held_micro, number, newest, late, expires, current, previous, length, passed, oldest, shortest)
    else
      fields[2] = pack(HEAD_HELD, held, held_micro) .. sub(head, BEHIND_HELD)
    end
    write_fields(ids_key, fields, written)
    if dropped then
      drop_records()
    end
    if trimmed > 0 then
      call('LTRIM', key_of_places(), trimmed, -1)
    end
    if look_at then
      call_in_pieces('ZREM', key_beside('late'), removed)
      call_in_pieces('ZADD', key_beside('late'), added)
    end
    if renewed then
      call('PEXPIRE', ids_key, expires - now)
      call('PEXPIRE', key_of_places(), expires - now)
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
      write_fields(key_beside('days'), changed, #changed)
    end
  end

  local team_fields = {}

  local function write_team()
    local count = 0
    for _, key in pairs(keys) do
      if key and key.changed then
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
      write_fields(team_key, team_fields, count)
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

  function write_account()
    local percents, credit = NONE, false
    if events.rules and books_changed then
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
  end
end
