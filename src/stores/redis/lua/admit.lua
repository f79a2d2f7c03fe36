-- Admissions, in the order of checks of ports/ledger.ts: the caller, rates, windows; then the request takes its place; then its length,
-- its glossary, and the characters of windows, key, tag, test keys and team. Answers have the form of `Admission`.

-- What the key, and the settings of the tag, say about the caller. None of these changes anything.
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

-- How long a refusal holds: the clock may be nearly a millisecond behind, and the key's expiry or another plan may come first.
local function holds_for(wait, changes_at, now)
  return max(0, min(wait, changes_at - now) - 1)
end

-- The rates of a request in the order in which they are judged: { of, list, rate }.
local function rates_of(team_key, team, op, key, tag)
  local rates = { { of = 'team', list = team_key .. ':slots:team', rate = team.limits.requestsPerSecond } }
  if key.limits.requestsPerSecond then
    rates[2] = { of = 'key', list = team_key .. ':slots:key:' .. op.key, rate = key.limits.requestsPerSecond }
  end
  if tag and tag.requestsPerSecond then
    rates[#rates + 1] = { of = 'tag', list = team_key .. ':slots:tag:' .. op.tag.name, rate = tag.requestsPerSecond }
  end
  return rates
end

-- Whose limit it is; absent for the team's.
local function whose(of)
  return of ~= 'team' and of or nil
end

local function refused_by_rate(rates, changes_at, now)
  for i = 1, #rates do
    local one = rates[i]
    local wait = wait_for_slot(one.list, one.rate, now)
    if wait > 0 then
      return { kind = 'rate_limited', limit = one.rate, retryAfterMs = wait, fullForMs = holds_for(wait, changes_at, now), of = whose(one.of) }
    end
  end
end

-- The subjects of a request that have limits by minute to month, with what they have used: nil for none. A tag with settings is counted
-- without limits too, because its characters in the period come back by the same tickets.
local function subjects_of(team_key, team, op, key, tag, now)
  if not team.limits.windows and not key.limits.windows and not tag then
    return nil
  end
  local subjects, fields = {}, {}
  if team.limits.windows then
    subjects[1] = windowed_subject('team', 'team', team.limits.windows)
  end
  if key.limits.windows then
    subjects[#subjects + 1] = windowed_subject('key', 'key:' .. op.key, key.limits.windows)
  end
  if tag then
    subjects[#subjects + 1] = windowed_subject('tag', 'tag:' .. op.tag.name, tag.windows)
  end
  for i = 1, #subjects do
    fields[i] = subjects[i].field
  end
  local stored = call('HMGET', team_key, unpack(fields))
  for i = 1, #subjects do
    open_windows(subjects[i], stored[i], now)
  end
  return subjects
end

local function refused_by_window(subjects, characters, changes_at, now, bounds)
  for i = 1, subjects and #subjects or 0 do
    local found = exceeded_window(subjects[i], characters, now, bounds)
    if found then
      local wait = found.ends - now
      -- A release may give characters back at any time.
      local full = found.counts == 'requests' and holds_for(wait, changes_at, now) or 0
      local window = { per = found.per, counts = found.counts }
      return { kind = 'rate_limited', limit = found.limit, retryAfterMs = wait, fullForMs = full, of = whose(subjects[i].of), window = window }
    end
  end
end

-- The dictionary of the glossary's first pair that fits: exactly, or else by the base codes of the languages, where those are asked for.
local function dictionary_of(team_key, glossary)
  local pairs_text = call('HGET', team_key .. ':pairs', glossary.id)
  if not pairs_text then
    return nil, { kind = 'glossary_missing' }
  end
  for _, by_base in ipairs({ false, true }) do
    for source, target, dictionary in string.gmatch(pairs_text, '([^| ]+)|([^: ]+):([^ ]+)') do
      if by_base and glossary.byBase then
        source, target = string.match(source, '^[^-]+'), string.match(target, '^[^-]+')
        if source == string.match(glossary.source, '^[^-]+') and target == string.match(glossary.target, '^[^-]+') then
          return dictionary
        end
      elseif not by_base and source == glossary.source and target == glossary.target then
        return dictionary
      end
    end
  end
  return nil, { kind = 'glossary_mismatch' }
end

local function quota_exceeded(limit, ends, of, cap)
  return { kind = 'quota_exceeded', characterLimit = limit, overageCapMinor = cap or 0, periodEndMs = ends, of = of }
end

-- What the request takes is more than what is left: by a window's whole number, the key's, the tag's, the allowance of test keys, or else
-- the team's quota or credit.
local function refused_characters(account, op, subjects, characters, now, bounds)
  for i = 1, subjects and #subjects or 0 do
    local found = too_small_window(subjects[i], characters, now, bounds)
    if found then
      local refusal = quota_exceeded(found.limit, found.ends, whose(subjects[i].of))
      refusal.window = { per = found.per, counts = found.counts }
      return refusal
    end
  end
  local limits, ends, of_key, of_tests = account.team.limits, account.period.endMs, account.of_key, account.of_tests
  local key_limit = account.key.limits.characters
  if key_limit and of_key.used + of_key.held + characters > key_limit then
    return quota_exceeded(key_limit, ends, 'key')
  end
  local tag_limit = account.tag and account.tag.characters
  if tag_limit and account.of_tag.used + characters > tag_limit then
    return quota_exceeded(tag_limit, ends, 'tag')
  end
  if account.uses_allowance then
    if of_tests.used + of_tests.held + characters > limits.testAllowance then
      return quota_exceeded(limits.testAllowance, ends, 'test_keys')
    end
  elseif limits.billing == 'quota' then
    local charged = account.of_team.used + account.of_team.held - (of_tests and of_tests.used + of_tests.held or 0)
    if charged + characters > limits.characterLimit + limits.overageCharacters then
      return quota_exceeded(limits.characterLimit, ends, nil, limits.overageCapMinor)
    end
  else
    local free, required = account.balance.micro - account.balance.held, account.price
    if required > free then
      local balance, needed = floor(free / MICRO_PER_MINOR), math.ceil(required / MICRO_PER_MINOR)
      return { kind = 'credit_exhausted', balanceMinor = balance, requiredMinor = needed, currency = limits.currency }
    end
  end
end

-- Of several rates, the one with the fewest free slots.
local function rate_standing(rates, now)
  local nearest
  for i = 1, #rates do
    local one = rates[i]
    local remaining = one.rate - slots_taken(one.list, one.rate, now)
    if not nearest or remaining < nearest.remaining then
      nearest = { limit = one.rate, remaining = remaining, of = whose(one.of) }
    end
  end
  return nearest
end

-- What is open is answered again.
local function open_again(text, plan)
  local held = cjson.decode(text)
  return { kind = 'admitted', characters = held.characters, untilMs = held.untilMs, plan = plan or nil }
end

-- A tag's characters in the period come back by the tickets of its windows, as those of windows do.
local function write_tag_counter(writes, field, one)
  write(writes, field, format('{"period":%d,"used":%d,"from":%d}', one.period, one.used, one.from), one)
end

-- What is counted for whom the request's characters are judged, besides the team; most have none of it.
local function open_account(team_key, op, team, period, key, tag, subjects, of_team, of_tests)
  local number, limits = period.number, team.limits
  local account = { team = team, period = period, key = key, tag = tag, price = 0 }
  account.of_team = period_counter(team_key, 'count:team:period', of_team, number)
  if key.limits.characters then
    account.key_field = 'count:key:' .. op.key .. ':period'
    account.of_key = period_counter(team_key, account.key_field, call('HGET', team_key, account.key_field), number)
  end
  account.uses_allowance = key.mode == 'test' and limits.testAllowance > 0
  if of_tests or account.uses_allowance then
    account.of_tests = period_counter(team_key, 'count:test keys:period', of_tests, number)
  end
  if tag then
    account.tag_field = 'count:tag:' .. op.tag.name .. ':period'
    local text = call('HGET', team_key, account.tag_field)
    local one = text and take(team_key, account.tag_field, text)
    account.of_tag = one and one.period == number and one or { period = number, used = 0, from = subjects[#subjects].tickets }
  end
  if limits.billing == 'credit' and op.reserve and not account.uses_allowance then
    account.balance, account.price = take(team_key, 'balance', call('HGET', team_key, 'balance')), op.reserve * limits.minorPerMillion
  end
  return account
end

-- Writes a reservation, and what it is held of.
local function reserve(writes, account, op, subjects, now, lease)
  local characters, price, ends = op.reserve, account.price, now + op.lease
  account.of_team.held = account.of_team.held + characters
  write_counter(writes, 'count:team:period', account.of_team)
  -- What a key without a limit holds is counted when it gets one.
  if account.of_key then
    account.of_key.held = account.of_key.held + characters
    write_counter(writes, account.key_field, account.of_key)
  end
  if account.uses_allowance then
    account.of_tests.held = account.of_tests.held + characters
    write_counter(writes, 'count:test keys:period', account.of_tests)
  end
  if price > 0 then
    account.balance.held = account.balance.held + price
    write_balance(writes, account.balance)
  end
  if account.of_tag then
    account.of_tag.used = account.of_tag.used + characters
    write_tag_counter(writes, account.tag_field, account.of_tag)
  end
  local held = { keyId = op.key, characters = characters, priceMicro = price, period = account.period.number, untilMs = ends, tag = op.tag }
  local more = ''
  if account.uses_allowance then
    held.ofAllowance, more = true, ',"ofAllowance":true'
  end
  if subjects then
    held.tickets = {}
    for i = 1, #subjects do
      held.tickets[subjects[i].name] = subjects[i].tickets
    end
    more = more .. ',"tickets":' .. cjson.encode(held.tickets)
  end
  if op.tag then
    more = more .. ',"tag":' .. cjson.encode(op.tag)
  end
  local shape = '{"keyId":"%s","characters":%d,"priceMicro":%d,"period":%d,"untilMs":%d%s}'
  write(writes, 'open:' .. op.id, format(shape, op.key, characters, price, held.period, ends, more), held)
  if not lease or ends < decode(lease) then
    write(writes, 'lease', format('%d', ends))
  end
end

local function admit(team_key, op, moment)
  local now, bounds, used_field = moment.ms, moment.bounds, 'used:' .. op.key
  local got = call('HMGET', team_key, 'team', 'period', 'lease', 'key:' .. op.key, used_field, 'count:team:period', 'open:' .. op.id,
    op.tag and 'tag:' .. op.tag.name or '', 'count:test keys:period')
  if not got[1] then
    return { kind = 'key_unknown' }
  end
  local team, period, key, tag = decode(got[1]), decode(got[2]), got[4] and decode(got[4]), got[8] and decode(got[8])
  if period.endMs <= now or got[3] and decode(got[3]) <= now then
    return 'look'
  end
  if got[7] and not op.check then
    return open_again(got[7], op.plan and team.plan)
  end
  local refusal = refused_caller(op, key, tag, now)
  if refusal then
    return refusal
  end
  local used = got[5] and tonumber(got[5]) > now and got[5] or moment.text
  local rates = rates_of(team_key, team, op, key, tag)
  local subjects = subjects_of(team_key, team, op, key, tag, now)
  if subjects and not bounds then
    return 'bounds'
  end
  local changes_at = min(period.endMs, key.limits.expiresAtMs or math.huge)
  refusal = refused_by_rate(rates, changes_at, now) or refused_by_window(subjects, op.reserve, changes_at, now, bounds)
  if refusal or op.check then
    call('HSET', team_key, used_field, used)
    return refusal or 'admitted'
  end

  -- From here on the request has taken its place, whatever follows.
  for i = 1, #rates do
    take_slot(rates[i].list, rates[i].rate, moment, op.report)
  end
  local account = open_account(team_key, op, team, period, key, tag, subjects, got[6], got[9])
  local answer, dictionary = nil, nil
  local length = op.characters or op.reserve
  if length and length > team.limits.maxCharactersPerRequest then
    answer = { kind = 'text_too_long', maxCharacters = team.limits.maxCharactersPerRequest }
  elseif op.reserve then
    if op.glossary then
      dictionary, answer = dictionary_of(team_key, op.glossary)
    end
    answer = answer or refused_characters(account, op, subjects, op.reserve, now, bounds)
  end
  local writes = { 'used:' .. op.key, used, to = team_key }
  local reserves = op.reserve and not answer
  for i = 1, subjects and #subjects or 0 do
    count_in_windows(subjects[i], reserves and op.reserve or 0, now, bounds)
    write(writes, subjects[i].field, written_windows(subjects[i]))
  end
  if reserves then
    reserve(writes, account, op, subjects, now, got[3])
  end
  call('HSET', team_key, unpack(writes))
  if not answer and not dictionary and not op.report and not op.plan then
    return 'admitted'
  end
  answer = answer or { kind = 'admitted', dictionaryId = dictionary }
  if op.report then
    answer.rate = rate_standing(rates, now)
    answer.windows = subjects and window_standings(subjects, now, bounds)
  end
  if op.plan then
    answer.plan = team.plan
  end
  return answer
end
