-- Admissions, by the rules of ports/ledger.ts, whose numbers stand beside them. An operation is { id, key, check?, reserve? (how many
-- characters to hold), characters? (the request's length, if that is another number), lease, glossary? { id, source, target, byBase? },
-- address? (bits), scope?, tag? { name, distinctMax }, report?, plan? }. Answers have the form of `Admission`, but for `look`, and for a
-- reservation, which the driver completes (`admissionOf`).

-- Rule 1: what is open is answered again.
local function open_again(text, plan)
  local held = cjson.decode(text)
  return { kind = 'admitted', characters = held.characters, untilMs = held.untilMs, plan = plan or nil }
end

-- Rule 2: what the key, and the settings of the tag, say about the caller. None of these changes anything.
local function refused_caller(op, key, tag, now)
  if not key then
    return { kind = 'key_unknown' }
  end
  local limits = key.limits
  if key.status == 'revoked' then
    return { kind = 'key_revoked' }
  end
  if key.status == 'disabled' then
    return { kind = 'key_revoked', reason = 'disabled' }
  end
  if limits.expiresAtMs and limits.expiresAtMs <= now then
    return { kind = 'key_revoked', reason = 'expired' }
  end
  -- Addresses and ranges are written out as bits, so that a range is a beginning.
  if key.allowedBits then
    local allowed = false
    for i = 1, #key.allowedBits do
      local range = key.allowedBits[i]
      allowed = allowed or op.address and string.sub(op.address, 1, #range) == range
    end
    if not allowed then
      return { kind = op.address and 'address_refused' or 'address_required' }
    end
  end
  if limits.scopes then
    local has = false
    for i = 1, #limits.scopes do
      has = has or limits.scopes[i] == op.scope
    end
    if not has then
      return { kind = op.scope and 'scope_missing' or 'scope_required' }
    end
  end
  if tag and tag.disabled then
    return { kind = 'tag_disabled' }
  end
end

-- Whose limits a request is judged by: the team's, the key's, the tag's. `in_period` is what is used of `characters`, a tag's once its
-- windows are opened. Without limits by them it is counted in windows too: by the same tickets characters come back to its period.
local function subjects_of(team_key, op, team, key, use, tag)
  local slots, of_team, of_key = team_key .. ':slots:team', team.limits, key.limits
  local subjects = { { name = 'team', slots = slots, rate = of_team.requestsPerSecond, windows = of_team.windows } }
  if of_key.requestsPerSecond or of_key.windows or of_key.characters then
    local name = 'key:' .. op.key
    subjects[2] = {
      of = 'key', name = name, slots = team_key .. ':slots:' .. name,
      rate = of_key.requestsPerSecond, windows = of_key.windows, characters = of_key.characters, in_period = use,
    }
  end
  if tag then
    local name = 'tag:' .. op.tag.name
    subjects[#subjects + 1] = {
      of = 'tag', name = name, slots = team_key .. ':slots:' .. name,
      rate = tag.requestsPerSecond, windows = tag.windows or {}, characters = tag.characters,
    }
  end
  return subjects
end

-- Those of them that are counted in windows, with what they have used; nil for none.
local function windowed_of(team_key, subjects, number, now)
  local windowed, fields
  for i = 1, #subjects do
    if subjects[i].windows then
      windowed, fields = windowed or {}, fields or {}
      windowed[#windowed + 1], fields[#fields + 1] = subjects[i], 'windows:' .. subjects[i].name
    end
  end
  local stored = windowed and call('HMGET', team_key, unpack(fields))
  for i = 1, windowed and #windowed or 0 do
    open_windows(team_key, windowed[i], stored[i], number, now)
  end
  return windowed
end

-- How long a refusal holds: the clock may be nearly a millisecond behind, and the key's expiry or another plan may come first.
local function holds_for(wait, period, key, now)
  return max(0, min(wait, period.endMs - now, (key.limits.expiresAtMs or math.huge) - now) - 1)
end

-- Rule 3
local function refused_by_rate(subjects, period, key, now)
  for i = 1, #subjects do
    local one = subjects[i]
    local wait = one.rate and wait_for_slot(one.slots, one.rate, now) or 0
    if wait > 0 then
      local full = holds_for(wait, period, key, now)
      return { kind = 'rate_limited', limit = one.rate, retryAfterMs = wait, fullForMs = full, of = one.of }
    end
  end
end

local function refused_by_window(windowed, characters, period, key, now, bounds)
  for i = 1, #windowed do
    local found = exceeded_window(windowed[i], characters, now, bounds)
    if found then
      local wait = found.ends - now
      -- A release may give characters back at any time.
      local full = found.counts == 'requests' and holds_for(wait, period, key, now) or 0
      local window = { per = found.per, counts = found.counts }
      return { kind = 'rate_limited', limit = found.limit, retryAfterMs = wait, fullForMs = full, of = windowed[i].of, window = window }
    end
  end
end

-- The dictionary of the glossary's first pair that fits: exactly, or else by the base codes of the languages, where those are asked for.
local function dictionary_of(team_key, glossary)
  local pairs_text = call('HGET', team_key .. ':pairs', glossary.id)
  if not pairs_text then
    return nil, { kind = 'glossary_missing' }
  end
  local all = decode(pairs_text)
  for _, by_base in ipairs({ false, glossary.byBase }) do
    local form = by_base and '^[^-]+' or '.*'
    for _, pair in ipairs(all) do
      if string.match(pair.sourceLang, form) == string.match(glossary.source, form)
        and string.match(pair.targetLang, form) == string.match(glossary.target, form) then
        return pair.dictionaryId
      end
    end
  end
  return nil, { kind = 'glossary_mismatch' }
end

local function quota_exceeded(limit, ends, of, cap)
  return { kind = 'quota_exceeded', characterLimit = limit, overageCapMinor = cap or 0, periodEndMs = ends, of = of }
end

-- Rule 7: the characters are more than a window's whole number, or than what is left of the key's or the tag's.
local function refused_by_subject(subjects, windowed, characters, period_end, now, bounds)
  for i = 1, windowed and #windowed or 0 do
    local found = too_small_window(windowed[i], characters, now, bounds)
    if found then
      local refusal = quota_exceeded(found.limit, found.ends, windowed[i].of)
      refusal.window = { per = found.per, counts = found.counts }
      return refusal
    end
  end
  for i = 1, #subjects do
    local one = subjects[i]
    if one.characters and one.in_period.used + (one.in_period.held or 0) + characters > one.characters then
      return quota_exceeded(one.characters, period_end, one.of)
    end
  end
end

-- What the request's characters are held of: the team's counter and the key's, of the former the allowance for test keys, or credit.
local function holding_of(team_key, op, limits, key, use, of_team)
  local holding = { of_team = of_team, of_key = use, uses_allowance = key.mode == 'test' and limits.testAllowance > 0, price = 0 }
  if limits.billing == 'credit' and not holding.uses_allowance then
    holding.balance, holding.price = take(team_key, 'balance', call('HGET', team_key, 'balance')), op.reserve * limits.minorPerMillion
  end
  return holding
end

-- Rule 7, for a test key that uses the allowance, what is left of that; for others, of the team's quota, or of its credit.
local function refused_by_plan(holding, limits, characters, period_end)
  local of_team = holding.of_team
  local of_tests = of_team.testUsed and of_team.testUsed + of_team.testHeld or 0
  if holding.uses_allowance then
    if of_tests + characters > limits.testAllowance then
      return quota_exceeded(limits.testAllowance, period_end, 'test_keys')
    end
  elseif limits.billing == 'quota' then
    if of_team.used + of_team.held - of_tests + characters > limits.characterLimit + limits.overageCharacters then
      return quota_exceeded(limits.characterLimit, period_end, nil, limits.overageCapMinor)
    end
  else
    local free = holding.balance.micro - holding.balance.held
    if holding.price > free then
      local left, required = floor(free / MICRO_PER_MINOR), math.ceil(holding.price / MICRO_PER_MINOR)
      return { kind = 'credit_exhausted', balanceMinor = left, requiredMinor = required, currency = limits.currency }
    end
  end
end

-- Writes a reservation, and what it is held of; the key's counter is written by the caller.
local function reserve(writes, op, holding, windowed, ends)
  local of_team, characters, price, more = holding.of_team, op.reserve, holding.price, ''
  local held = { keyId = op.key, characters = characters, priceMicro = price, period = of_team.period, untilMs = ends, tag = op.tag }
  of_team.held, holding.of_key.held = of_team.held + characters, holding.of_key.held + characters
  if holding.uses_allowance then
    of_team.testUsed, of_team.testHeld = of_team.testUsed or 0, (of_team.testHeld or 0) + characters
    held.ofAllowance, more = true, ',"ofAllowance":true'
  end
  write_counter(writes, 'used', of_team)
  if price > 0 then
    holding.balance.held = holding.balance.held + price
    write_balance(writes, holding.balance)
  end
  if windowed then
    held.tickets = {}
    for i = 1, #windowed do
      held.tickets[windowed[i].name] = windowed[i].tally.tickets
    end
    more = more .. ',"tickets":' .. cjson.encode(held.tickets)
  end
  if op.tag then
    more = more .. ',"tag":' .. cjson.encode(op.tag)
  end
  local shape = '{"keyId":"%s","characters":%d,"priceMicro":%d,"period":%d,"untilMs":%d%s}'
  write(writes, 'open:' .. op.id, format(shape, op.key, characters, price, held.period, ends, more), held)
end

-- Of several rates, the one with the fewest free slots.
local function rate_standing(subjects, now)
  local nearest
  for i = 1, #subjects do
    local one = subjects[i]
    local remaining = one.rate and one.rate - slots_taken(one.slots, one.rate, now)
    if remaining and (not nearest or remaining < nearest.remaining) then
      nearest = { limit = one.rate, remaining = remaining, of = one.of }
    end
  end
  return nearest
end

local function admit(team_key, op, moment)
  local now, bounds, used_field = moment.ms, moment.bounds, 'used:' .. op.key
  local got = call('HMGET', team_key, 'team', 'period', 'lease', 'open:' .. op.id, 'key:' .. op.key, used_field, 'used')
  if not got[1] then
    return { kind = 'key_unknown' }
  end
  local team, period = decode(got[1]), decode(got[2])
  if period.endMs <= now or got[3] and tonumber(got[3]) <= now then
    return 'look'
  end
  if got[4] and not op.check then
    return open_again(got[4], op.plan and team.plan)
  end
  local settings = op.tag and call('HGET', team_key, 'tag:' .. op.tag.name)
  local key, tag = got[5] and decode(got[5]), settings and decode(settings)
  local refusal = refused_caller(op, key, tag, now)
  if refusal then
    return refusal
  end
  local limits, number = team.limits, period.number
  local use = counter_of(team_key, used_field, got[6], number)
  local subjects = subjects_of(team_key, op, team, key, use, tag)
  local windowed = windowed_of(team_key, subjects, number, now)
  -- Not of this minute: the driver asks again with those of the next.
  if windowed and not bounds then
    return 'look'
  end
  local writes = { to = team_key }
  use.atMs = max(use.atMs or 0, now)
  refusal = refused_by_rate(subjects, period, key, now) or windowed and refused_by_window(windowed, op.reserve, period, key, now, bounds)
  if refusal or op.check then
    write_counter(writes, used_field, use)
    call('HSET', team_key, unpack(writes))
    return refusal or 'admitted'
  end

  -- From here on the request has taken its place, whatever follows.
  for i = 1, #subjects do
    if subjects[i].rate then
      take_slot(subjects[i].slots, subjects[i].rate, moment, op.report)
    end
  end
  local length, reserves = op.characters or op.reserve, op.reserve
  local answer, dictionary, holding
  -- Rules 4 and 6; what reserves nothing, 5, is admitted then.
  if length and length > limits.maxCharactersPerRequest then
    answer = { kind = 'text_too_long', maxCharacters = limits.maxCharactersPerRequest }
  elseif reserves and op.glossary then
    dictionary, answer = dictionary_of(team_key, op.glossary)
  end
  if reserves and not answer then
    holding = holding_of(team_key, op, limits, key, use, counter_of(team_key, 'used', got[7], number))
    answer = refused_by_subject(subjects, windowed, reserves, period.endMs, now, bounds)
      or refused_by_plan(holding, limits, reserves, period.endMs)
  end
  reserves = not answer and reserves
  for i = 1, windowed and #windowed or 0 do
    count_in_windows(windowed[i], reserves or 0, now, bounds)
    write_windows(writes, windowed[i])
  end
  if reserves then
    local ends = now + op.lease
    reserve(writes, op, holding, windowed, ends)
    if not got[3] or ends < tonumber(got[3]) then
      write(writes, 'lease', format('%d', ends))
    end
  end
  write_counter(writes, used_field, use)
  call('HSET', team_key, unpack(writes))
  if not answer and not dictionary and not op.report and not op.plan then
    return 'admitted'
  end
  answer = answer or { kind = 'admitted', dictionaryId = dictionary }
  answer.plan = op.plan and team.plan or nil
  if op.report then
    answer.rate, answer.windows = rate_standing(subjects, now), windowed and window_standings(windowed, now, bounds)
  end
  return answer
end
