-- The common case of a team's part of a call: requests of one key that are admitted or refused by the rate, and reservations
-- of this period that are settled in time. In any other case it returns false before anything is written.
-- Keep it one function over local variables: that makes it cheap.

local seen, plans, op_micro = {}, {}, {}
local fields, taken_places = {}, {}
-- Packed once for all teams of a call: the time of a new place, and the records of ids by their states.
local place_now
local done_now = {}

-- Returns the ids among the oldest places that can be forgotten, nil when one of them cannot, and the time of the first place
-- that was not looked at.
local function read_forgettable(ids_key, places_key, passed, length, now)
  local list = call('LRANGE', places_key, passed, passed + LOOK_MAX)
  local ids, oldest = {}, NEVER
  for i, place in ipairs(list) do
    local time = parse(PLACE, place)
    if i > LOOK_MAX or now - time < LOOK_MS then
      oldest = time
      break
    end
    ids[i] = sub(place, PLACE_ID)
  end
  if #ids > 0 then
    for _, record in ipairs(call('HMGET', ids_key, unpack(ids))) do
      if record and (byte(record) == IS_OPEN or select(2, parse(DONE, record)) > now) then
        return nil
      end
    end
  end
  return ids, oldest
end

local function is_forgotten(record, now)
  return byte(record) ~= IS_OPEN and select(2, parse(DONE, record)) <= now
end

local function done_as(kind, now)
  local record = done_now[kind] or pack(DONE, kind, now + REMEMBER_MS)
  done_now[kind] = record
  return record
end

-- Returns false when it has done nothing, and the general way has to.
local function fast(team_key, first, last, now)
  local ids_key, places_key = beside(team_key, 'ids')
  local got = call('HMGET', ids_key, 'h', unpack(op_id, first, last))
  if not got[1] then
    return false
  end
  local held, held_micro, number, newest, late, expires, current, previous, length, passed, oldest, shortest = parse(HEAD, got[1])
  if newest > now or now >= late or now >= oldest + shortest then
    return false
  end
  local key, asked
  for i = first, last do
    local id, record = op_id[i], got[i - first + 2]
    local of
    if op_what[i] >= ADMISSION then
      asked, of = true, (not record or is_forgotten(record, now)) and op_key[i]
    elseif record and byte(record) == IS_OPEN then
      -- What it holds is needed below.
      local _, characters, micro, reserved_in, _, at = parse(OPEN, record)
      op_characters[i], op_micro[i] = characters, micro
      of = reserved_in == number and sub(record, at)
    end
    if not of or (key and of ~= key) then
      return false
    end
    key = of
    if last > first then
      if seen[id] == first then
        return false
      end
      seen[id] = first
    end
  end
  local key_field = 'k' .. key
  local stored = asked and call('HMGET', team_key, 'b', key_field, 'p') or call('HMGET', team_key, 'b', key_field)
  if not (stored[1] and stored[2]) or (asked and not stored[3]) then
    return false
  end
  local period, starts, ends, used, balance = parse(BOOKS, stored[1])
  local active, last_use, used_in, key_characters, key_requests = parse(KEY, stored[2])
  if period ~= number or now >= ends then
    return false
  end
  if used_in ~= number then
    key_characters, key_requests = 0, 0
  end
  local plan, rate
  if asked then
    if active ~= 1 then
      return false
    end
    -- Many teams have the same plan.
    plan = plans[stored[3]] or read_plan(stored[3])
    plans[stored[3]] = plan
    places_key = beside(team_key, 'places')
    rate = plan[REQUESTS_PER_SECOND]
    place_now = place_now or pack(PLACE, now)
  end
  -- The places of this calendar second and the one before. Stored are those of the newest place, which change only with a new one.
  local in_second, in_second_before = current, previous
  local second, newest_second = now - now % RATE_WINDOW_MS, newest - newest % RATE_WINDOW_MS
  if second ~= newest_second then
    in_second_before, in_second = second == newest_second + RATE_WINDOW_MS and current or 0, 0
  end

  local taken, written, charged, shortest_now, needed = 0, 2, false, LONGEST, 0
  local looked, decisive, live
  for i = first, last do
    local id, what = op_id[i], op_what[i]
    if what >= ADMISSION then
      local wait = 0
      if taken >= rate then
        wait = RATE_WINDOW_MS
      -- At most the places of these two calendar seconds count. Only if they reach the rate is the decisive place read.
      elseif in_second + in_second_before + taken >= rate or (TOSS and TOSS()) then
        if looked ~= taken then
          looked, decisive = taken, call('LINDEX', places_key, taken - rate)
        end
        wait = decisive and wait_for(parse(PLACE, decisive), now) or 0
      end
      if wait > 0 then
        answers[i] = rate_limited(rate, wait)
      elseif what >= IS_CHECK then
        answers[i] = ADMITTED
      else
        taken = taken + 1
        taken_places[taken] = place_now .. id
        local standing = ''
        if what ~= PLAIN and has(what, TELLS_RATE) then
          live = live or length - ended_places(places_key, length, now)
          standing = rate_standing(rate, rate - live - taken)
        end
        local characters, lease = op_characters[i], op_lease[i]
        fields[written + 1] = id
        if what == PLAIN or (has(what, RESERVES) and has(what, HAS_CHARACTERS)) then
          local micro = MICRO
          if lease <= LOOK_MS or what ~= PLAIN and has(what, HAS_GLOSSARY) or IS_TOO_LONG or EXCEEDS_CREDIT or EXCEEDS_QUOTA then
            return false
          end
          held, held_micro = held + characters, held_micro + micro
          if lease < shortest_now then
            shortest_now = lease
          end
          if lease > needed then
            needed = lease
          end
          fields[written + 2] = pack(OPEN, IS_OPEN, characters, micro, number, now + lease) .. key
          answers[i] = standing .. RESERVED
        else
          if has(what, HAS_CHARACTERS) and IS_TOO_LONG then
            return false
          end
          fields[written + 2] = done_as(IS_RELEASED, now)
          answers[i] = standing .. ADMITTED
        end
        written = written + 2
      end
    else
      local characters, micro = op_characters[i], op_micro[i]
      held, held_micro = held - characters, held_micro - micro
      if what == 1 then
        used, balance = used + characters, max(0, balance - micro)
        key_characters, key_requests, charged = key_characters + characters, key_requests + 1, true
      end
      local kind = what == 1 and IS_COMMITTED or IS_RELEASED
      fields[written + 1], fields[written + 2] = id, done_as(kind, now)
      answers[i] = what == 1 and COMMITTED or RELEASED
      written = written + 2
    end
  end

  local forgotten, fresh
  if taken > 0 then
    local unlooked = length - passed
    if IS_WORTH_LOOKING or (TOSS and TOSS()) then
      local next_oldest
      forgotten, next_oldest = read_forgettable(ids_key, places_key, passed, length, now)
      if not forgotten then
        return false
      end
      passed, oldest = passed + #forgotten, next_oldest
      if oldest == NEVER then
        shortest = LONGEST
      end
    end
    -- The first write, because the list was not read before and may have a wrong type, and because a full server refuses only the
    -- first write of a script: either way nothing has changed then.
    fresh = length == 0
    length = length + taken
    if call('RPUSH', places_key, unpack(taken_places, 1, taken)) ~= length then
      -- The list was changed by another program: the general way has to count anew.
      late = 0
    end
    newest, current, previous = now, in_second + taken, in_second_before
    if now < oldest then
      oldest = now
    end
    if shortest_now < shortest then
      shortest = shortest_now
    end
    if length > WIDE_FROM and length - taken <= WIDE_FROM then
      fields[written + 1], fields[written + 2] = 'w', WIDE
      written = written + 2
    end
    if forgotten and #forgotten > 0 then
      call('HDEL', ids_key, unpack(forgotten))
      local trimmed = min(passed, length - rate)
      if trimmed > 0 then
        call('LTRIM', places_key, trimmed, -1)
        length, passed = length - trimmed, passed - trimmed
      end
    end
  end
  local until_ms = now + needed + REMEMBER_MS
  local renewed = written > 2 and (fresh or expires < until_ms)
  if expires < until_ms then
    expires = until_ms + SPARE_MS
  end
  if written > 2 then
    fields[1] = 'h'
    if taken == 0 and not renewed then
      fields[2] = pack(HEAD_HELD, held, held_micro) .. sub(got[1], BEHIND_HELD)
    else
      fields[2] = pack(HEAD, held, held_micro, number, newest, late, expires, current, previous, length, passed, oldest, shortest)
    end
    call('HSET', ids_key, unpack(fields, 1, written))
  end
  if asked and last_use < now then
    last_use = now
  end
  if charged then
    call(
      'HSET', team_key, key_field, pack(KEY, active, last_use, number, key_characters, key_requests),
      'b', pack(BOOKS, number, starts, ends, used, balance)
    )
  elseif asked then
    call('HSET', team_key, key_field, pack(KEY, active, last_use, number, key_characters, key_requests))
  end
  if renewed then
    call('PEXPIRE', ids_key, expires - now)
    call('PEXPIRE', beside(team_key, 'places'), expires - now)
  end
  return true
end
