-- The admission: reads and judges everything, then writes everything (ports/ledger.ts says what and in which order).
-- KEYS: team, open, due, seen, window, pairs.
-- ARGV: the head (clock, deadline, offer), then request, key, characters, reserve, lease, glossary, pair, rate; '' for none.
-- With rate '1', the answer to a request that has taken a place ends with a list of the limit and the places left.

local function read_request(k, a)
  return {
    team = key_at(k + 1), open = key_at(k + 2), due = key_at(k + 3), seen = key_at(k + 4), window = key_at(k + 5), pairs = key_at(k + 6),
    offer = read_offer(a),
    id = text_at(a + 7), key = text_at(a + 8), characters = tonumber(text_at(a + 9)), reserve = text_at(a + 10) == '1',
    lease = number_at(a + 11), glossary = text_at(a + 12), pair = text_at(a + 13), rate = text_at(a + 14) == '1',
  }
end

local function read_team(x)
  local got = call(
    'HMGET', x.team, 'billing', 'requestsPerSecond', 'maxCharactersPerRequest', 'characterLimit', 'overageCharacters', 'overageCapMinor',
    'minorPerMillion', 'currency', 'period', 'created', 'period_number', 'period_start', 'period_end', 'balance',
    'window_newest', 'window_refreshed', 'k:' .. x.key, 'u:' .. x.key
  )
  if not got[10] then
    return nil
  end
  return {
    credit = got[1] == 'credit', rate = tonumber(got[2]), request_max = tonumber(got[3]), included = tonumber(got[4]),
    overage = tonumber(got[5]), cap = tonumber(got[6]), price = tonumber(got[7]), currency = got[8], length = got[9],
    created = tonumber(got[10]), number = got[11], starts = tonumber(got[12]), ends = tonumber(got[13]),
    balance = tonumber(got[14]), newest = tonumber(got[15] or nil), refreshed = tonumber(got[16] or nil),
    status = got[17], last_use = tonumber(got[18] or nil),
  }
end

local function judge_glossary(x)
  if x.glossary == '' then
    return nil
  end
  local pair = call('HGET', x.pairs, x.glossary)
  if not pair then
    return 'glossary_missing'
  end
  return pair ~= x.pair and 'glossary_mismatch' or nil
end

-- The answer, and the reservation if it has one.
local function judge(x, team, books, now)
  local characters = x.characters
  if characters and characters > team.request_max then
    return { now, 'text_too_long', team.request_max }
  end
  if not x.reserve or not characters then
    return { now, 'admitted' }
  end
  local refusal = judge_glossary(x)
  if refusal then
    return { now, refusal }
  end
  local micro = 0
  if team.credit then
    micro = characters * team.price
    local free = team.balance - counter(books, 'micro')
    if micro > free then
      return { now, 'credit_exhausted', free, micro, team.currency }
    end
  else
    local used = tonumber(call('HGET', use_key(x.team, team.number), 'characters') or 0)
    if used + counter(books, 'held:' .. team.number) + characters > team.included + team.overage then
      return { now, 'quota_exceeded', team.included, team.cap, team.ends }
    end
  end
  local lease = now + x.lease
  return { now, 'admitted', characters, lease }, { characters = characters, micro = micro, number = team.number, lease = lease, key = x.key }
end

-- What the first three rules say; nil when the request is to be judged further.
local function judge_before_rate(x, team, books, now)
  if books.reservation then
    return { now, 'admitted', books.reservation.characters, books.reservation.lease }
  end
  if books.stands then
    return { now, 'repeated' }
  end
  if not team.status then
    return { now, 'key_unknown' }
  end
  if team.status ~= 'active' then
    return { now, 'key_revoked' }
  end
  return nil
end

local function is_stale(refreshed, now)
  return not refreshed or now - refreshed >= WINDOW_REFRESH_MS or now < refreshed
end

-- The team's record is written first: of all writes only the first may be refused (a full server), and then nothing has changed.
local function write_team(x, team, fields)
  period_fields(team, fields)
  if #fields > 0 then
    call('HSET', x.team, unpack(fields))
  end
  leave_period(x.team, team)
end

local function refuse_by_rate(x, team, books, now, shift, wait)
  local fields = { 'u:' .. x.key, digits(math.max(team.last_use or now, now)) }
  if shift > 0 then
    append(fields, { 'window_newest', digits(now) })
  end
  write_team(x, team, fields)
  move_places(x.window, shift)
  write_books(books)
  return { now, 'rate_limited', team.rate, wait }
end

local function judge_and_write(x, team, books, now, shift)
  local answer, reservation = judge(x, team, books, now)
  if x.rate then
    insert(answer, { team.rate, places_left(x.window, team.rate, shift, now) })
  end
  if reservation then
    add_reservation(books, x.id, reservation)
  else
    remember(books, x.id, 'released', now + REMEMBER_MS)
  end
  local fields = { 'u:' .. x.key, digits(math.max(team.last_use or now, now)), 'window_newest', digits(now) }
  local refresh = is_stale(team.refreshed, now)
  if refresh then
    append(fields, { 'window_refreshed', digits(now) })
  end
  write_team(x, team, fields)
  move_places(x.window, shift)
  take_place(x.window, team.rate, now, refresh)
  write_books(books)
  return answer
end

local function admit(k, a)
  local now, late = read_clock(a)
  local x = read_request(k, a)
  if late then
    return { now, 'late' }
  end
  local team = read_team(x)
  if not team then
    return { now, 'key_unknown' }
  end
  if not follow_period(team, x.offer, now) then
    return ask_for_bounds(now, team.created, team.length)
  end
  local books = open_books(x, now, x.id, team.number)
  local early = judge_before_rate(x, team, books, now)
  if early then
    write_team(x, team, {})
    write_books(books)
    return early
  end
  local shift = window_shift(team.newest, now)
  local wait = wait_for_place(x.window, team.rate, shift, now)
  if wait > 0 then
    return refuse_by_rate(x, team, books, now, shift, wait)
  end
  return judge_and_write(x, team, books, now, shift)
end
