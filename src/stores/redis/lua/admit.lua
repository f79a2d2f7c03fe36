-- The admission: what one request is answered, and what that changes (ports/ledger.ts says what and in which order).

local function judge_glossary(account, x)
  if not x.glossary then
    return nil
  end
  local known = account.pairs[x.glossary]
  if known == nil then
    known = call('HGET', account.keys.pairs, x.glossary)
    account.pairs[x.glossary] = known
  end
  if not known then
    return 'glossary_missing'
  end
  return known ~= x.pair and 'glossary_mismatch' or nil
end

local function reserved(reservation)
  return 'admitted ' .. digits(reservation.characters) .. ' ' .. digits(reservation.lease)
end

-- The answer, and the reservation if it has one.
local function judge(account, x)
  local characters = x.characters
  if characters and characters > account.request_max then
    return 'text_too_long ' .. digits(account.request_max)
  end
  if not x.reserve or not characters then
    return 'admitted'
  end
  local refusal = judge_glossary(account, x)
  if refusal then
    return refusal
  end
  local micro = 0
  if account.credit then
    micro = characters * account.price
    local free = account.balance - counter(account.books, 'micro')
    if micro > free then
      return table.concat({ 'credit_exhausted', digits(free), digits(micro), account.currency }, ' ')
    end
  else
    local used = counts_of(account, account.number, { 'characters' }).characters
    if used + counter(account.books, 'held:' .. account.number) + characters > account.included + account.overage then
      return table.concat({ 'quota_exceeded', digits(account.included), digits(account.cap), digits(account.ends) }, ' ')
    end
  end
  local reservation =
    { characters = characters, micro = micro, number = account.number, lease = account.now + x.lease, key = x.key }
  return reserved(reservation), reservation
end

-- With x.rate, the answer to a request that has taken a place ends with the limit and the places left.
local function admit(account, x)
  local books = account.books
  local open = books.reservations[x.id]
  if open then
    return reserved(open)
  end
  if books.stands[x.id] then
    return 'repeated'
  end
  local status = account.status[x.key]
  if not status then
    return 'key_unknown'
  end
  if status ~= 'active' then
    return 'key_revoked'
  end
  local window = window_of(account)
  local wait = wait_for_place(window)
  use_now(account, x.key)
  if wait > 0 then
    return 'rate_limited ' .. digits(account.rate) .. ' ' .. digits(wait)
  end
  take_place(window)
  local answer, reservation = judge(account, x)
  if reservation then
    add_reservation(books, x.id, reservation)
  else
    remember(books, x.id, 'released', account.now + REMEMBER_MS)
  end
  return x.rate and answer .. ' rate ' .. digits(account.rate) .. ' ' .. digits(places_left(window)) or answer
end
