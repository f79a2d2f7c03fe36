-- The admission: checks a request and applies its changes, in the order of ports/ledger.ts (`Admission`).

local admit

do
  local OPEN_WITH_KEY = OPEN .. 'c0'

  local function bases(pair)
    return (string.gsub(pair, '%-[^|]*', ''))
  end

  -- The id of the matching dictionary, '' if it is the glossary's own id; nil if there is none.
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
    dictionary = dictionary == '' and glossary or dictionary
    return nil, RESERVED_WITH .. pack('>Bc0', #dictionary, dictionary)
  end

  local function out_of_credit(micro)
    local currency = call('HGET', team_key, 'currency')
    return 'c' .. pack('>ddBc0', balance - held_micro, micro, #currency, currency)
  end

  local function reserve(i, characters, micro, guard)
    local lease = op_lease[i]
    if guard then
      guarding.hold(guard, characters)
    end
    held, held_micro = held + characters, held_micro + micro
    put_record(op_id[i], pack(OPEN_WITH_KEY, IS_OPEN, characters, micro, number, now + lease, op_key[i]))
    if lease > longest_lease then
      longest_lease = lease
    end
    if lease <= LOOK_MS then
      look_later(op_id[i], now + lease)
    elseif lease < shortest_lease then
      shortest_lease = lease
    end
  end

  -- Checks a request that has taken its slot; `guard` is nil for a key without limits. Returns the answer, and whether a
  -- reservation was made.
  local function judge(i, guard)
    local what, characters = op_what[i], op_characters[i]
    local plain = what == PLAIN
    if (plain or has(what, HAS_CHARACTERS)) and is_too_long(plan, characters) then
      return 'x' .. pack('>d', plan[MAX_CHARACTERS_PER_REQUEST])
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
    if guard and guarding.is_used_up(guard, keys[op_key[i]], characters) then
      return 'Q' .. pack('>ddd', guard.characters, 0, ends)
    end
    local micro, refused_for = price(plan, characters, balance - held_micro, used + held)
    if refused_for == 'credit' then
      return out_of_credit(micro)
    elseif refused_for then
      return 'q' .. pack('>ddd', plan[CHARACTER_LIMIT], plan[OVERAGE_CAP_MINOR], ends)
    end
    reserve(i, characters, micro, guard)
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
    if byte(record) == IS_OPEN then
      local _, characters, _, _, lease = parse(OPEN, record)
      return plan_name(i) .. 'O' .. pack('>dd', characters, lease)
    end
    local _, until_ms = parse(DONE, record)
    return until_ms > now and REPEATED or nil
  end

  function admit(i)
    local id, key, is_check = op_id[i], keys[op_key[i]], op_what[i] >= IS_CHECK
    local record = not is_check and records[id]
    local seen = record and seen_before(i, record)
    if seen then
      return seen
    end
    if not key then
      return KEY_UNKNOWN
    end
    local guard
    if key.active ~= ACTIVE then
      if key.active ~= GUARDED then
        return KEY_REVOKED
      end
      guard = guards[op_key[i]]
      local refusal = guarding.refusal(guard, op_address and op_address[i])
      if refusal then
        return refusal
      end
    end
    if newest > now then
      -- Only admissions move slots back with the clock; other operations leave them unchanged.
      move_slots()
    end
    local rate = plan[REQUESTS_PER_SECOND]
    local wait = wait_for_slot(rate)
    if key.last_use < now then
      key.last_use, key.changed = now, true
    end
    if wait > 0 then
      return rate_limited('L', rate, wait)
    end
    if guard and guard.rate > 0 then
      wait = guarding.wait(guard)
      if wait > 0 then
        return rate_limited('l', guard.rate, wait)
      end
    end
    if is_check then
      return ADMITTED
    end
    take_slot(id)
    if guard and guard.rate > 0 then
      guarding.take_slot(guard)
    end
    local answer, reserved = judge(i, guard)
    if not reserved then
      remember(id, IS_RELEASED)
    end
    if op_what[i] == PLAIN then
      return answer
    end
    if has(op_what[i], REPORTS_RATE) then
      local letter, left = '+', slots_left(rate)
      if guard and guard.rate > 0 and guard.rate - guard.total < left then
        letter, rate, left = '*', guard.rate, guard.rate - guard.total
      end
      answer = rate_standing(letter, rate, left) .. answer
    end
    return plan_name(i) .. answer
  end
end
