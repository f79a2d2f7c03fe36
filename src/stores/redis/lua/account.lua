-- Opens a team's account and writes it. The few values of a usual command are passed one by one: unpack() would be another call.
--@ uses constants: RATE_WINDOW_MS, REMEMBER_MS, BOOKS, KEY, DONE_BYTES, HEAD, HEAD_HELD
--@ uses shared: call, max, min, insert, unpack, sub, pack, parse, NONE, key_at, digits, PIECE, call_in_pieces
--@ uses layout: GUARDED, DAY_MS, open_key, NEVER, LONGEST, LOOK_MS, beside
--@ uses plan: read_plan
--@ uses outbox: events
--@ uses team: teams
--@ uses days: days
--@ uses call: ADMISSION, op_what, op_id, op_key, op_rare
--@ uses state: fields, key_beside, put_record, DONE_NOW
--@ changes state: now, today, remembered_until, team_key, team_names, allowance_field, windows_field, windowed, tagged_field
--@ changes state: plan, number, starts, ends, used, balance
--@ changes state: books_changed, keys, head
--@ changes state: held, held_micro, held_in, newest, late, expires, current, previous, length, passed, oldest, shortest
--@ changes state: head_changed, ids_key, slots_key, records, single, single_record, running, left_over, written, rare
--@ changes state: longest_lease, shortest_lease, done_now
--@ uses guards: guarding
--@ uses allowance: allowance
--@ uses windows: windows
--@ uses tags: tags
--@ uses tag_limits: tagging
--@ uses window: slots, in_second, in_second_before, open_window
--@ changes window: taken, this_second, slot_now
--@ uses expiry: expiry
--@ gives begin, open_account, open_alone, write_account, KEEPS_EVENTS

local begin, open_account, open_alone, write_account

local KEEPS_EVENTS = events.rules ~= nil
-- The fields of the team that an account reads: the books; if events are stored, the last percentage reported; then those of
-- keys, and the plan.
local wanted = KEEPS_EVENTS and { 'b', 't' } or { 'b' }
local BEFORE_KEYS = #wanted
-- The states of the account's keys, at the positions of their fields, the last of which is `last_key`. The next account reuses
-- the tables.
local key_states, last_key = { false, false }, 0

do
  -- Plans by their bytes, because many teams share the same.
  local plans, plan_count = {}, 0
  local PLANS_MAX = 100

  local function plan_of(packed)
    if plan_count >= PLANS_MAX then
      plans, plan_count = {}, 0
    end
    local new = read_plan(packed)
    plans[packed], plan_count = new, plan_count + 1
    return new
  end

  -- Key names by team, and fields by key: building a name costs as much as writing a field.
  local names_of, names_count, field_of, fields_count = {}, 0, {}, 0
  local NAMES_MAX = 2000

  local function name_keys(key)
    if names_count >= NAMES_MAX then
      names_of, names_count = {}, 0
    end
    local names = { ids = beside(key, 'ids'), slots = beside(key, 'places') }
    names_of[key], names_count = names, names_count + 1
    return names
  end

  local function name_field(id)
    if fields_count >= NAMES_MAX then
      field_of, fields_count = {}, 0
    end
    local field = 'k' .. id
    field_of[id], fields_count = field, fields_count + 1
    return field
  end

  -- Slots taken until then are worth looking at.
  local looked_until

  -- Must be called before the accounts of a call, which all use the same time.
  function begin(at_ms)
    now, today, slot_now, done_now = at_ms, (at_ms - at_ms % DAY_MS) / DAY_MS, nil, setmetatable({}, DONE_NOW)
    this_second, remembered_until, looked_until = at_ms - at_ms % RATE_WINDOW_MS, at_ms + REMEMBER_MS, at_ms - LOOK_MS
    if running then
      -- The last call was killed.
      running, left_over = nil, true
    end
  end

  -- Records what is stored for the operations' ids, and adds the keys that they name, or that hold what is resolved, to the
  -- wanted fields. Returns whether there is an admission.
  local function read_operations(first, last, got)
    local count, admits, offset = BEFORE_KEYS, false, 2 - first
    single, single_record = nil, nil
    if first == last then
      single, single_record = first, got[2]
    end
    for i = first, last do
      local record, key = got[i + offset], nil
      if first < last then
        records[op_id[i]] = record
      end
      if op_what[i] >= ADMISSION then
        key, admits = op_key[i], true
      elseif record and #record > DONE_BYTES then
        key = open_key(record)
      end
      if key and keys[key] == nil then
        count = count + 1
        local state = key_states[count]
        if not state then
          state = { id = '', active = 0, last_use = 0, number = 0, characters = 0, requests = 0, day = 0, changed = false }
          key_states[count] = state
        end
        state.id, keys[key], wanted[count] = key, state, field_of[key] or name_field(key)
      end
    end
    last_key = count
    return admits
  end

  local function has_tag(first, last)
    for i = first, last do
      if op_rare[i] and op_rare[i].tag then
        return true
      end
    end
    return false
  end

  -- The period's parameters are read only if the period has ended, which is rare. Returns the team if bounds are needed and
  -- were not offered.
  local function follow_account_period(offer)
    local team = teams.read(team_key)
    if not teams.follow_period(team, offer, now) then
      return team
    end
    number, starts, ends, used, books_changed = team.number, team.starts, team.ends, team.used, true
    if team.taken then
      plan = team.plan
    end
    rare = { use = team.use, credit = team.credit, taken = team.taken }
    return nil
  end

  local NO_HEAD = pack(HEAD, 0, 0, 0, 0, NEVER, 0, 0, 0, 0, 0, NEVER, LONGEST)

  -- Decodes the keys' counts, which may be of an earlier period.
  local function read_keys(stored)
    local guarded
    for i = BEFORE_KEYS + 1, last_key do
      local key, packed = key_states[i], stored[i]
      if packed then
        key.active, key.last_use, key.number, key.characters, key.requests, key.day = parse(KEY, packed)
        key.changed = false
        if key.active >= GUARDED then
          guarded = guarded or {}
          insert(guarded, key.id)
        end
      else
        key.changed, keys[key.id] = false, false
      end
    end
    if guarded then
      guarding.open(guarded)
      guarding.fit()
    end
  end

  -- Reads a team for the operations from `first` to `last` (0 for none). Returns false if there is no team, and additionally
  -- its parameters if the bounds of a period are needed.
  function open_account(key, first, last, offer)
    local names = names_of[key] or name_keys(key)
    team_key, team_names, ids_key, slots_key = key, names, names.ids, names.slots
    if left_over then
      records, keys, left_over = {}, {}, false
    end
    written, taken, longest_lease, shortest_lease = 2, 0, 0, LONGEST
    rare, books_changed, head_changed = nil, false, false
    tags.begin()
    local got = first == last and call('HMGET', ids_key, 'h', op_id[first]) or call('HMGET', ids_key, 'h', unpack(op_id, first, last))
    local admits = read_operations(first, last, got)
    -- Settlements alone do not need the plan.
    local count, needs_plan = last_key, admits or first > last or KEEPS_EVENTS
    if needs_plan then
      count = count + 1
      wanted[count] = 'p'
    end
    local at_plan, expects_windows, expects_allowance = count, admits and names.reads_windows, names.reads_allowance
    if expects_windows then
      count = count + 1
      wanted[count] = 'c'
    end
    if expects_allowance then
      count = count + 1
      wanted[count] = 'allowance'
    end
    local at_allowance, expects_tags = count, op_rare and has_tag(first, last)
    if expects_tags then
      count = count + 1
      wanted[count] = 'g'
    end
    local stored
    if count == 2 then
      stored = call('HMGET', team_key, wanted[1], wanted[2])
    elseif count == 3 then
      stored = call('HMGET', team_key, wanted[1], wanted[2], wanted[3])
    else
      stored = call('HMGET', team_key, unpack(wanted, 1, count))
    end
    local books = stored[1]
    plan = nil
    if needs_plan then
      local packed = stored[at_plan]
      plan = packed and (plans[packed] or plan_of(packed))
    end
    if not books or needs_plan and not plan then
      return false
    end
    number, starts, ends, used, balance = parse(BOOKS, books)
    allowance_field, windows_field, windowed, tagged_field = nil, nil, 0, nil
    if expects_windows then
      windows_field, names.reads_windows = stored[at_plan + 1], nil
    end
    if expects_allowance then
      allowance_field, names.reads_allowance = stored[at_allowance], nil
    end
    if expects_tags then
      tagged_field = stored[count]
    end
    if KEEPS_EVENTS then
      events.balance, events.percents = balance, stored[2]
    end
    if now >= ends then
      local undone = follow_account_period(offer)
      if undone then
        return false, undone
      end
    end
    head = got[1]
    held, held_micro, held_in, newest, late, expires, current, previous, length, passed, oldest, shortest = parse(HEAD, head or NO_HEAD)
    -- A missing head, or one written after the list was found changed, has to be compared with the list.
    if not head or late == 0 then
      expiry.count_slots()
    end
    if held_in ~= number then
      held, held_in, head_changed = 0, number, head_changed or head ~= false
    end
    read_keys(stored)
    if now >= late then
      expiry.look_at_late()
    end
    if now >= oldest + shortest then
      expiry.look_at_slots(true)
    elseif admits and oldest < looked_until and expiry.is_worth_looking() then
      expiry.look_at_slots(false)
    end
    if admits then
      open_window()
    end
    return true
  end

  -- The account of the function's only team, without operations. Returns what to answer where it cannot be opened.
  function open_alone(at_ms)
    begin(at_ms)
    local opened, undone = open_account(key_at(1), 1, 0, teams.read_offer())
    if undone then
      return teams.ask_for_bounds(now, teams.following(undone))
    end
    return not opened and { now, 'none' } or nil
  end
end

do
  -- Redis keys expire this much later than necessary, so that their expiry is renewed about once a minute.
  local SPARE_MS = 60000
  -- With more slots than this, the hash of ids is forced to use a hash table: Redis switches to one for values longer than 64
  -- bytes.
  local WIDE_FROM = 32
  local WIDE = '-----------------------------------------------------------------'
  -- The head with other held characters and micro: those, then its bytes from this position.
  local HELD_AND_REST, BEHIND_HELD = HEAD_HELD .. 'c0', 15

  -- The first write of an account that has taken slots: the list was not read and may have the wrong type, so nothing may be
  -- changed before.
  local function push_slots(moved)
    local before, pushed, count = length, slots, taken
    if moved then
      pushed, count = moved, before + taken
      for i = 1, taken do
        moved[before + i] = slots[i]
      end
    end
    length, head_changed = before + taken, true
    local listed = 0
    if count == 1 then
      listed = call('RPUSH', slots_key, pushed[1])
    elseif count > PIECE then
      listed = call_in_pieces('RPUSH', slots_key, pushed, count)
    elseif count > 0 then
      listed = call('RPUSH', slots_key, unpack(pushed, 1, count))
    end
    if listed ~= before + count then
      -- Another program has changed the list: the next call recounts it.
      late = 0
    end
    if moved then
      call('LTRIM', slots_key, before, -1)
    end
    if taken > 0 then
      newest, current, previous = now, in_second + taken, in_second_before
      if now < oldest then
        oldest = now
      end
      if shortest_lease < shortest then
        shortest = shortest_lease
      end
    end
    if length > WIDE_FROM and (before <= WIDE_FROM or not head) then
      put_record('w', WIDE)
      left_over = true
    end
  end

  -- The changes of `:late`, by id.
  local function late_changes()
    local added, removed = {}, {}
    -- A key of the wrong type fails here, before anything is written.
    call('ZCARD', key_beside('late'))
    for id, at_ms in pairs(rare.look_at) do
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

  local function drop_records(dropped)
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
    local added, removed, moved, renewed
    if rare then
      moved = rare.moved
      if rare.look_at then
        added, removed = late_changes()
        renewed = #added > 0
      end
    end
    local until_ms = remembered_until + longest_lease
    if expires < until_ms then
      expires, head_changed, renewed = until_ms + SPARE_MS, true, true
    end
    if taken > 0 or moved then
      renewed = renewed or moved or length == 0
      push_slots(moved)
    end
    local trimmed = 0
    if passed > 0 and head_changed and plan then
      trimmed = max(0, min(passed, length - plan.requests_per_second))
      length, passed = length - trimmed, passed - trimmed
    end
    if head_changed or not head then
      fields[2] = pack(HEAD, held, held_micro, number, newest, late, expires, current, previous, length, passed, oldest, shortest)
    else
      fields[2] = pack(HELD_AND_REST, held, held_micro, sub(head, BEHIND_HELD))
    end
    if written == 4 then
      call('HSET', ids_key, 'h', fields[2], fields[3], fields[4])
    elseif written <= PIECE then
      call('HSET', ids_key, unpack(fields, 1, written))
    else
      call_in_pieces('HSET', ids_key, fields, written)
    end
    if rare and rare.dropped then
      drop_records(rare.dropped)
    end
    if trimmed > 0 then
      call('LTRIM', slots_key, trimmed, -1)
    end
    if added then
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
    if added < today and tonumber(call('HGET', key_beside('days'), days.DONE) or 0) >= added then
      -- The clock went back: a day that was complete has grown.
      insert(changed, days.DONE)
      insert(changed, digits(added - 1))
    end
    call_in_pieces('HSET', key_beside('days'), changed)
  end

  local team_fields = {}

  -- Includes the team's usage as of now, with the writes of this call.
  local function report_percents(reached)
    local usage = { events.texts(call('HGETALL', team_key)), events.texts(call('HGETALL', key_beside('keys'))) }
    for _, percent in ipairs(reached) do
      events.keep(team_key, events.quota_id(team_key, starts, number, percent), now, 'quota', { digits(percent), usage[1], usage[2] })
    end
    events.percents = events.with_percent(events.percents, number, reached[#reached])
    call('HSET', team_key, 't', events.percents)
  end

  -- Returns the thresholds that charges have reached; keys of the wrong type fail here, before anything is written.
  local function reached_by_charges()
    local last = events.last_percent(events.percents, number)
    local percents = events.percents_reached(plan, last, used)
    if percents ~= NONE then
      percents = events.percents_reached(plan, last, used - allowance.open().used)
    end
    local credit = plan.on_credit and events.credit_reached(events.balance, balance)
    if credit or percents ~= NONE then
      events.look(team_key)
      call('HLEN', key_beside('keys'))
    end
    return percents, credit
  end

  local function report_charges(percents, credit)
    if credit then
      events.report_credit(team_key, now, events.balance, balance, call('HGET', team_key, 'currency'))
    end
    if percents ~= NONE then
      report_percents(percents)
    end
  end

  -- `first` and `last` as for `open_account`.
  function write_account(first, last)
    local percents, credit
    if KEEPS_EVENTS and books_changed then
      percents, credit = reached_by_charges()
    end
    if written > 2 or taken > 0 or head_changed or rare and rare.look_at then
      write_ids()
    end
    local count = 0
    for i = BEFORE_KEYS + 1, last_key do
      local key = key_states[i]
      if key.changed then
        count = count + 2
        team_fields[count - 1], team_fields[count] = wanted[i], pack(KEY, key.active, key.last_use, key.number, key.characters, key.requests, key.day)
      end
      keys[key.id] = nil
    end
    if rare and rare.guards then
      count = guarding.write(team_fields, count)
    end
    if windowed > 0 then
      count = windows.write(team_fields, count)
    end
    if books_changed then
      count = count + 2
      team_fields[count - 1], team_fields[count] = 'b', pack(BOOKS, number, starts, ends, used, balance)
    end
    if rare and rare.allowance and rare.allowance.changed then
      count = count + 2
      team_fields[count - 1], team_fields[count] = 'allowance', teams.pack_allowance(number, rare.allowance)
    end
    if rare and rare.credit then
      count = count + 2
      team_fields[count - 1], team_fields[count] = 'credit', teams.pack_credit(number, rare.credit)
    end
    if count == 2 then
      call('HSET', team_key, team_fields[1], team_fields[2])
    elseif count == 4 then
      call('HSET', team_key, team_fields[1], team_fields[2], team_fields[3], team_fields[4])
    elseif count > PIECE then
      call_in_pieces('HSET', team_key, team_fields, count)
    elseif count > 0 then
      call('HSET', team_key, unpack(team_fields, 1, count))
    end
    if rare then
      teams.write_use(team_key, rare.use or NONE)
      if rare.days then
        write_days(rare.days)
      end
      if rare.tagged then
        tagging.write(rare.tagged)
      end
      if rare.taken then
        teams.write_taken(team_key, rare.taken, number, now)
      end
    end
    if tags.count > 0 then
      tags.write()
    end
    if percents then
      report_charges(percents, credit)
    end
    if rare and rare.refusals then
      events.write_refusals()
    end
    -- Removing single entries costs less than creating new tables.
    if not single then
      for i = first, last do
        records[op_id[i]] = nil
      end
    end
  end
end
