-- The resolution of an id: each has one terminal state (ports/ledger.ts).
--@ uses constants: REMEMBER_MS, OPEN_HELD, DONE, DONE_BYTES
--@ uses shared: call, max, min, byte, parse
--@ uses layout: open_key, IS_OPEN, IS_OF_ALLOWANCE, IS_TAGGED, OPEN_HELD_AT, IS_COMMITTED, IS_RELEASED, IS_EXPIRED
--@ uses days: days
--@ uses call: COMMIT_PART, op_characters, COMMITTED, ABSENT
--@ uses state: now, today, number, keys, rare, key_beside, rarely, put_record, done_now, look_later, left_period
--@ uses state: close_reservation, team_key
--@ changes state: used, balance, books_changed
--@ uses guards: guarding
--@ uses allowance: allowance
--@ uses windows: windows
--@ uses tags: tags
--@ uses tag_limits: tagging
--@ uses team: teams
--@ gives resolve

local resolve

do
  local RELEASED, EXPIRED = 'R', 'E'
  local RELEASE = 0
  local RESOLVED = { [IS_COMMITTED] = COMMITTED, [IS_RELEASED] = RELEASED, [IS_EXPIRED] = EXPIRED }

  local function days_of(key, known)
    local all = rarely('days')
    all[key] = all[key] or days.read(call('HGET', key_beside('days'), key)) or days.none(known.number, known.characters, known.requests)
    return all[key]
  end

  -- The key's counts belong to another day or period: adds them to its days, and restarts counting.
  local function begin_day(key, known)
    local of = days_of(key, known)
    days.close(of, known)
    if known.number ~= number then
      if known.requests > 0 then
        local left = left_period(known.number)
        left.requests = left.requests and left.requests + known.requests
        left.tests = left.tests and left.tests + (allowance.is_test(key) and known.characters or 0)
      end
      known.number, known.characters, known.requests = number, 0, 0
      of.number, of.characters, of.requests, of.changed = number, 0, 0, true
    end
    known.day, known.changed = today, true
  end

  -- It is as if the balance had been lower since that period. Periods are closed in order, so that none of these has been.
  local function spend_late(reserved_in, micro)
    rarely('credit')
    rare.credit = rare.credit.opening and rare.credit or teams.read_credit(call('HGET', team_key, 'credit'))
    rare.credit.opening = rare.credit.opening - micro
    for left = reserved_in, number - 1 do
      local counts = left_period(left)
      counts.balance = counts.balance and counts.balance - micro
      if left > reserved_in then
        counts.opening = counts.opening and counts.opening - micro
      end
    end
  end

  -- Charges a reservation of an earlier period, whose counts are in a separate hash.
  local function charge_late(reserved_in, key, known, characters, micro)
    if known then
      days.add(days_of(key, known), today, characters, 1)
    end
    local counts = left_period(reserved_in)
    counts.characters = (counts.characters or 0) + characters
    counts.requests = counts.requests and counts.requests + 1
    counts.tests = counts.tests and counts.tests + (allowance.is_test(key) and characters or 0)
    if micro > 0 then
      spend_late(reserved_in, micro)
    end
  end

  local function charge(reserved_in, key, characters, micro)
    if micro > 0 then
      balance = max(0, balance - micro)
    end
    books_changed = true
    -- A key's record is never deleted; if it is missing, the team is charged nevertheless.
    local known = keys[key]
    if known and (known.day ~= today or known.number ~= number) then
      begin_day(key, known)
    end
    if reserved_in ~= number then
      return charge_late(reserved_in, key, known, characters, micro)
    end
    used = used + characters
    if known then
      known.characters, known.requests, known.changed = known.characters + characters, known.requests + 1, true
    end
  end

  function resolve(i, what, id, record)
    if record and #record > DONE_BYTES then
      local characters, micro, reserved_in = parse(OPEN_HELD, record, OPEN_HELD_AT)
      local key, is_counted = open_key(record), byte(record) % IS_OF_ALLOWANCE ~= IS_OPEN
      close_reservation(characters, micro, reserved_in)
      local is_of_allowance = allowance.release(byte(record), characters, reserved_in)
      if rare and rare.guards and reserved_in == number then
        guarding.release(key, characters)
      end
      if what == RELEASE then
        if is_counted then
          windows.release(record, characters)
        end
        if byte(record) >= IS_TAGGED then
          tagging.release(record, characters, reserved_in)
        end
        put_record(id, done_now[IS_RELEASED])
        return RELEASED
      end
      put_record(id, done_now[IS_COMMITTED])
      if what == COMMIT_PART then
        -- The price per character is an integer.
        local part = max(0, min(op_characters[i], characters))
        if is_counted then
          windows.release(record, characters - part)
        end
        if byte(record) >= IS_TAGGED then
          tagging.release(record, characters - part, reserved_in)
        end
        characters, micro = part, part == 0 and 0 or micro / characters * part
      end
      charge(reserved_in, key, characters, micro)
      if is_of_allowance then
        allowance.charge(characters, reserved_in)
      end
      if byte(record) >= IS_TAGGED then
        tags.charge(record, characters)
      end
      return COMMITTED
    end
    if record then
      local kind, until_ms = parse(DONE, record)
      if until_ms > now then
        return RESOLVED[kind]
      end
    end
    if what ~= RELEASE then
      return ABSENT
    end
    put_record(id, done_now[IS_RELEASED])
    look_later(id, now + REMEMBER_MS)
    return RELEASED
  end
end
