-- The admission: judges one request and makes its changes, in the order of ports/ledger.ts (`Admission`).

local function key_of(account, key)
  local known = account.keys[key]
  if known == nil then
    local record = call('HGET', account.team.key, 'k' .. key)
    known = record and read_key_record(record, account.team.number)
    account.keys[key] = known
  end
  return known
end

local function use_key_now(account, key)
  local known = account.keys[key]
  if account.now > known.last_use then
    known.last_use, known.changed = account.now, true
  end
end

local function bases(pair)
  return (string.gsub(pair, '%-[^|]*', ''))
end

-- The id of the dictionary that serves, '' for the glossary's own; nothing if none does.
local function dictionary_for(held, wanted, by_base)
  local near
  for pair, dictionary in string.gmatch(held, HELD) do
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
local function judge_glossary(account, i)
  local glossary = op_glossary[i]
  local held = call('HGET', beside(account.team.key, 'pairs'), glossary)
  if not held then
    return 'm'
  end
  local dictionary = dictionary_for(held, op_pair[i], has(op_what[i], BY_BASE))
  if not dictionary then
    return 'n'
  end
  dictionary = dictionary == '' and glossary or dictionary
  return nil, RESERVED_WITH .. pack('>Bc0', #dictionary, dictionary)
end

local function again(record)
  return 'O' .. pack('>dd', record.characters, record.lease)
end

-- Returns the answer, and the reservation if there is one.
local function judge(account, i)
  local team, head, what, characters = account.team, account.ids.head, op_what[i], op_characters[i]
  local plan, used, held, balance, held_micro = team.plan, team.used, head.held, team.balance, head.held_micro
  if has(what, HAS_CHARACTERS) and IS_TOO_LONG then
    return 'x' .. pack('>d', plan[MAX_CHARACTERS_PER_REQUEST])
  end
  if not has(what, RESERVES) or not has(what, HAS_CHARACTERS) then
    return ADMITTED
  end
  local reserved = RESERVED
  if has(what, HAS_GLOSSARY) then
    local refusal
    refusal, reserved = judge_glossary(account, i)
    if refusal then
      return refusal
    end
  end
  local micro = MICRO
  if EXCEEDS_CREDIT then
    return 'c' .. pack('>ddBc0', balance - held_micro, micro, #team.currency, team.currency)
  end
  if EXCEEDS_QUOTA then
    return 'q' .. pack('>ddd', plan[CHARACTER_LIMIT], plan[OVERAGE_CAP_MINOR], team.ends)
  end
  local lease = account.now + op_lease[i]
  return reserved, { kind = IS_OPEN, characters = characters, micro = micro, number = team.number, lease = lease, key = op_key[i] }
end

local function admit(account, i)
  local ids, places, id = account.ids, account.places, op_id[i]
  local is_check = has(op_what[i], IS_CHECK)
  local record = not is_check and ids.records[id]
  if record and record.kind == IS_OPEN then
    return again(record)
  end
  if record and record.until_ms > account.now then
    return REPEATED
  end
  local key = key_of(account, op_key[i])
  if not key then
    return KEY_UNKNOWN
  end
  if key.active ~= 1 then
    return KEY_REVOKED
  end
  if ids.head.newest > account.now then
    -- Only an admission moves places back with the clock; other operations leave them as they are.
    move_places(places, ids.head, account.now)
    ids.dirty = true
  end
  local wait = wait_for_place(places)
  use_key_now(account, op_key[i])
  if wait > 0 then
    return rate_limited(places.rate, wait)
  end
  if is_check then
    return ADMITTED
  end
  take_place(places, ids.head, id)
  local told, reservation = judge(account, i)
  if reservation then
    open_reservation(ids, id, reservation)
  else
    remember(ids, id, IS_RELEASED, account.now + REMEMBER_MS)
  end
  return has(op_what[i], TELLS_RATE) and rate_standing(places.rate, places_left(places)) .. told or told
end
