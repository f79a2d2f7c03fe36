-- The admission: checks a request and applies its changes, in the order of ports/ledger.ts (`Admission`).
--@ uses constants: OPEN, DONE, DONE_BYTES, TAGGED, TICKETS
--@ uses shared: call, max, min, pack, parse, now_past
--@ uses layout: ACTIVE, GUARDED, IS_OPEN, IS_OPEN_COUNTED, IS_RELEASED, IS_OF_ALLOWANCE, IS_TAGGED, LOOK_MS, HELD
--@ uses call: RESERVES, REPORTS_RATE, HAS_GLOSSARY, HAS_CHARACTERS, BY_BASE, IS_CHECK, PLAIN, op_what, op_key, op_characters
--@ uses call: op_lease, op_glossary, op_pair, op_rare, has, KEY_UNKNOWN
--@ uses state: now, team_key, plan, number, ends, used, balance, keys, newest, rare, key_beside, put_record, done_now
--@ uses state: look_later
--@ changes state: held, held_micro, longest_lease, shortest_lease
--@ uses guards: guarding
--@ uses allowance: allowance
--@ uses windows: windows
--@ uses tag_limits: tagging
--@ uses window: move_slots, wait_for_slot, slots_left, take_slot
--@ uses outbox: events
--@ gives admit

local admit

do
  local REPEATED, KEY_REVOKED, TAG_DISABLED, ADMITTED, RESERVED, RESERVED_WITH = 'r', 'v', 'D', 'a', 'A', 'G'
  local OPEN_WITH_KEY, COUNTED_WITH_KEY = OPEN .. 'c0', OPEN .. TICKETS .. 'c0'

  -- The answer of a request that has taken a slot is preceded by '+' for the team's rate, '*' for the key's, '#' for the tag's, if that
  -- is to be reported.
  local function about_rate(letter, rate, left)
    return letter .. pack('>dd', rate, left)
  end

  -- The answer for a request refused by a rate: 'L' for the team's, 'l' for the key's own, 'k' for the tag's. The last number is how long the refusal
  -- holds: a key that expires earlier is refused for that from then on.
  local function too_fast(letter, rate, wait, guard)
    local holds = wait
    if guard and guard.expires > 0 then
      holds = min(wait, guard.expires - now)
    end
    return letter .. pack('>ddd', rate, wait, max(0, holds - now_past))
  end

  local function bases(pair)
    return (string.gsub(pair, '%-[^|]*', ''))
  end

  -- The id of the matching dictionary; nil if there is none.
  local function dictionary_for(dictionaries, wanted, by_base)
    local near
    for pair, dictionary in string.gmatch(dictionaries, HELD) do
      if pair == wanted then
        return dictionary
      end
      if by_base and not near and bases(pair) == bases(wanted) then
        near = dictionary
      end
    end
    return near
  end

  -- Returns a refusal, or nil and the answer for a reservation that uses the dictionary.
  local function judge_glossary(i)
    local glossary = op_glossary[i]
    local dictionaries = call('HGET', key_beside('pairs'), glossary)
    if not dictionaries then
      return 'm'
    end
    local dictionary = dictionary_for(dictionaries, op_pair[i], has(op_what[i], BY_BASE))
    if not dictionary then
      return 'n'
    end
    return nil, RESERVED_WITH .. pack('>Bc0', #dictionary, dictionary)
  end

  local function out_of_credit(micro)
    local currency = call('HGET', team_key, 'currency')
    return events.refused('c' .. pack('>ddBc0', balance - held_micro, micro, #currency, currency), micro, true)
  end

  -- `state` is IS_OPEN or IS_OF_ALLOWANCE.
  local function reserve(i, id, key_id, state, characters, micro, guard, is_windowed)
    local lease = op_lease[i]
    if guard then
      guarding.hold(guard, characters)
    end
    held, held_micro = held + characters, held_micro + micro
    local tag = tagging.current
    if tag then
      tagging.hold(tag, characters)
    end
    local carried = op_rare and op_rare[i]
    if carried and carried.tag then
      local tagged = pack(TAGGED, tag and tag.counts.tickets or 0, carried.tags_most, #carried.tag)
      state, key_id = state + IS_TAGGED, key_id .. carried.tag .. tagged
    end
    if is_windowed then
      local of_team, of_key = windows.hold(characters)
      state = state + IS_OPEN_COUNTED
      put_record(id, pack(COUNTED_WITH_KEY, state, characters, micro, number, now + lease, of_team, of_key, key_id))
    else
      put_record(id, pack(OPEN_WITH_KEY, state, characters, micro, number, now + lease, key_id))
    end
    if lease > longest_lease then
      longest_lease = lease
    end
    if lease <= LOOK_MS then
      look_later(id, now + lease)
    elseif lease < shortest_lease then
      shortest_lease = lease
    end
  end

  -- What is of the allowance does not count. Only asked if the quota would be exceeded with it, because it has to be read.
  local function is_over_quota(characters)
    if allowance.is_none() then
      return true
    end
    local own = allowance.open()
    return used + held - own.used - own.held + characters > plan.most_characters
  end

  -- Checks a request that has taken its slot; `guard` is nil for a key without limits. Returns the answer, and whether a
  -- reservation was made.
  local function judge(i, what, id, key_id, guard, is_windowed)
    local plain, characters = what == PLAIN, op_characters[i]
    local length = op_rare and op_rare[-i] or characters
    if (plain or has(what, HAS_CHARACTERS)) and length > plan.max_characters_per_request then
      return 'x' .. pack('>d', plan.max_characters_per_request)
    end
    if not plain and not (has(what, RESERVES) and has(what, HAS_CHARACTERS)) then
      return ADMITTED
    end
    local reserved = RESERVED
    if not plain and has(what, HAS_GLOSSARY) then
      local refusal
      refusal, reserved = judge_glossary(i)
      if refusal then
        return refusal
      end
    end
    if is_windowed then
      local refusal = windows.judge_whole(characters)
      if refusal then
        return refusal
      end
    end
    if guard and guarding.is_used_up(guard, keys[key_id], characters) then
      return events.refused('Q' .. pack('>ddd', guard.characters, 0, ends), characters, false, key_id)
    end
    local tag = tagging.current
    if tag and tagging.is_used_up(tag, characters) then
      return events.refused('U' .. pack('>ddd', tag.settings.characters, 0, ends), characters, false, nil, nil, tag)
    end
    if plan.test_allowance > 0 and allowance.is_test(key_id) then
      local own = allowance.open()
      if own.used + own.held + characters > plan.test_allowance then
        return events.refused('t' .. pack('>ddd', plan.test_allowance, 0, ends), characters, false, nil, own)
      end
      allowance.hold(characters)
      reserve(i, id, key_id, IS_OF_ALLOWANCE, characters, 0, guard, is_windowed)
      return reserved, true
    end
    -- The price of the characters in millionths of a minor unit.
    local micro = 0
    if plan.on_credit then
      micro = characters * plan.minor_per_million
      if micro > balance - held_micro then
        return out_of_credit(micro)
      end
    elseif used + held + characters > plan.most_characters and is_over_quota(characters) then
      return events.refused('q' .. pack('>ddd', plan.character_limit, plan.overage_cap_minor, ends), characters, false)
    end
    reserve(i, id, key_id, IS_OPEN, characters, micro, guard, is_windowed)
    return reserved, true
  end

  local REPORTS_PLAN = 1

  -- Precedes an answer that reports the team's plan.
  local function plan_name(i)
    if not has(op_what[i], REPORTS_PLAN) then
      return ''
    end
    local name = call('HGET', team_key, 'plan')
    return 'W' .. pack('>Bc0', #name, name)
  end

  -- The answer for an id that was seen before; nil if it counts as new.
  local function seen_before(i, record)
    if #record > DONE_BYTES then
      local _, characters, _, _, lease = parse(OPEN, record)
      return plan_name(i) .. 'O' .. pack('>dd', characters, lease)
    end
    local _, until_ms = parse(DONE, record)
    return until_ms > now and REPEATED or nil
  end

  function admit(i, what, id, record)
    local key_id, is_check = op_key[i], what >= IS_CHECK
    local key, seen = keys[key_id], record and not is_check and seen_before(i, record)
    if seen then
      return seen
    end
    if not key then
      return KEY_UNKNOWN
    end
    local guard, carried = nil, op_rare and op_rare[i]
    if key.active ~= ACTIVE then
      if key.active < GUARDED then
        return KEY_REVOKED
      end
      guard = rare.guards[key_id]
      local refusal = guarding.refusal(guard, carried)
      if refusal then
        return refusal
      end
    end
    tagging.open(carried and carried.tag)
    local tag = tagging.current
    if tag and tag.settings.disabled then
      return TAG_DISABLED
    end
    if newest > now then
      -- Only admissions move slots back with the clock; other operations leave them unchanged.
      move_slots()
    end
    local rate = plan.requests_per_second
    local wait = wait_for_slot(rate)
    if key.last_use < now then
      key.last_use, key.changed = now, true
    end
    if wait > 0 then
      return too_fast('L', rate, wait, guard)
    end
    if guard and guard.rate > 0 then
      wait = guarding.wait(guard)
      if wait > 0 then
        return too_fast('l', guard.rate, wait, guard)
      end
    end
    local tag_rate = tag and tag.settings.rate or 0
    if tag_rate > 0 then
      wait = tagging.wait(tag)
      if wait > 0 then
        return too_fast('k', tag_rate, wait, guard)
      end
    end
    local is_windowed = plan.windows or guard and guard.windows or tag
    if is_windowed then
      local reserves = what == PLAIN or not is_check and has(what, RESERVES) and has(what, HAS_CHARACTERS)
      windows.open(guard, key_id, tag)
      local refusal = windows.judge(guard, reserves and op_characters[i] or nil)
      if refusal then
        return refusal
      end
    end
    if is_check then
      return ADMITTED
    end
    take_slot(id)
    if is_windowed then
      windows.count()
    end
    if guard and guard.rate > 0 then
      guarding.take_slot(guard)
    end
    if tag_rate > 0 then
      tagging.take_slot(tag)
    end
    local answer, reserved = judge(i, what, id, key_id, guard, is_windowed)
    if not reserved then
      put_record(id, done_now[IS_RELEASED])
    end
    if what == PLAIN then
      return answer
    end
    if has(what, REPORTS_RATE) then
      local letter, left = '+', slots_left(rate)
      if guard and guard.rate > 0 and guard.rate - guard.total < left then
        letter, rate, left = '*', guard.rate, guard.rate - guard.total
      end
      if tag_rate > 0 and tag_rate - tag.total < left then
        letter, rate, left = '#', tag_rate, tag_rate - tag.total
      end
      answer = about_rate(letter, rate, left) .. answer
      if is_windowed then
        answer = windows.report() .. answer
      end
    end
    return plan_name(i) .. answer
  end
end
