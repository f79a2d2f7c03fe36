-- The resolution of an id: each has one terminal state (ports/ledger.ts).

local resolve

do
  local RESOLVED = { [IS_COMMITTED] = COMMITTED, [IS_RELEASED] = RELEASED, [IS_EXPIRED] = EXPIRED }

  -- Charges a reservation of an earlier period, whose counts have a hash of their own.
  local function charge_late(reserved_in, key, characters)
    local counted = use_key(team_key, reserved_in)
    use = use or {}
    local counts = use[reserved_in] or {}
    use[reserved_in] = counts
    local by = { characters = characters, [key .. ':c'] = characters, [key .. ':r'] = 1 }
    for name, more in pairs(by) do
      counts[name] = (counts[name] or tonumber(call('HGET', counted, name) or 0)) + more
    end
  end

  local function charge(reserved_in, key, characters, micro)
    balance, books_changed = max(0, balance - micro), true
    if reserved_in ~= number then
      return charge_late(reserved_in, key, characters)
    end
    used = used + characters
    -- A key's record is never deleted; without one the team is charged all the same.
    local known = keys[key]
    if known then
      known.characters, known.requests, known.changed = known.characters + characters, known.requests + 1, true
    end
  end

  function resolve(i)
    local id, commits = op_id[i], op_what[i] == 1
    local record = records[id]
    if record and byte(record) == IS_OPEN then
      local _, characters, micro, reserved_in = parse(OPEN, record)
      close_reservation(characters, micro, reserved_in)
      remember(id, commits and IS_COMMITTED or IS_RELEASED)
      if commits then
        charge(reserved_in, sub(record, OPEN_KEY), characters, micro)
      end
      return commits and COMMITTED or RELEASED
    end
    if record then
      local kind, until_ms = parse(DONE, record)
      if until_ms > now then
        return RESOLVED[kind]
      end
    end
    if commits then
      return ABSENT
    end
    remember(id, IS_RELEASED)
    look_later(id, now + REMEMBER_MS)
    return RELEASED
  end
end
