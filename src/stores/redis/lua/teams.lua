-- Teams: created, changed, and looked at as a whole.
-- KEYS: team, open, due, seen, keys. ARGV: the head (clock, deadline, offer), then what each says.

-- Amounts and counts stay exact up to here.
local NUMBER_MAX = 9007199254740991

local function team_keys()
  return { team = key_at(1), open = key_at(2), due = key_at(3), seen = key_at(4), keys = key_at(5) }
end

-- Arguments from `first` to `last`: names and values of the team's fields.
local function read_fields(first, last)
  local fields, length = {}, nil
  for i = first, last, 2 do
    insert(fields, text_at(i))
    insert(fields, text_at(i + 1))
    if text_at(i) == 'period' then
      length = text_at(i + 1)
    end
  end
  return fields, length
end

-- 7: how many arguments follow; then the fields. A team that exists already is answered as it is.
local function create_team()
  local now, late = read_clock()
  local x, offer = team_keys(), read_offer()
  local fields, length = read_fields(8, 7 + number_at(7))
  if late then
    return { now, 'late' }
  end
  if call('HEXISTS', x.team, 'created') == 1 then
    return { now, 'team', call('HGETALL', x.team) }
  end
  -- The driver's bounds begin at the moment that it was told, which is the team's creation.
  if not offer.ends or offer.length ~= length or now >= offer.ends then
    return ask_for_bounds(now, now, length)
  end
  append(fields, { 'created', digits(offer.created), 'period_number', '1' })
  append(fields, { 'period_start', digits(offer.starts), 'period_end', digits(offer.ends) })
  call('HSET', x.team, unpack(fields))
  return { now, 'team', call('HGETALL', x.team) }
end

-- 7: micro to add; 8: how many arguments follow; then the fields.
local function update_team()
  local now, late = read_clock()
  local x, offer, add = team_keys(), read_offer(), number_at(7)
  local fields, length = read_fields(9, 8 + number_at(8))
  if late then
    return { now, 'late' }
  end
  local team = read_account(x.team)
  if not team then
    return { now, 'none' }
  end
  local balance = team.balance + add
  if balance < 0 or balance > NUMBER_MAX then
    return { now, 'balance' }
  end
  if length and length ~= team.length then
    if not fits(offer, team.created, length, now) then
      return ask_for_bounds(now, team.created, length)
    end
    -- Ends the period here and now, whatever is left of it.
    team.length, team.ends = length, now
  end
  if not follow_period(team, offer, now) then
    return ask_for_bounds(now, team.created, team.length)
  end
  local books = open_books(x, now, { '' }, team.number, true)
  append(fields, { 'balance', digits(balance) })
  period_fields(team, fields)
  write_due(books, false)
  call('HSET', x.team, unpack(fields))
  leave_period(x.team, team)
  write_books(books)
  return { now, 'team', call('HGETALL', x.team) }
end

-- All that is kept of a team, brought up to now.
local function survey()
  local now, late = read_clock()
  local x, offer = team_keys(), read_offer()
  if late then
    return { now, 'late' }
  end
  local team = read_account(x.team)
  if not team then
    return { now, 'none' }
  end
  if not follow_period(team, offer, now) then
    return ask_for_bounds(now, team.created, team.length)
  end
  local books = open_books(x, now, { '' }, team.number, true)
  local open = call('ZCOUNT', x.due, '-inf', '(+inf') - books.ended
  local held, micro = counter(books, 'held:' .. team.number), counter(books, 'micro')
  local records, use = call('HGETALL', x.keys), call('HGETALL', use_key(x.team, team.number))
  local fields = {}
  period_fields(team, fields)
  if #fields > 0 then
    call('HSET', x.team, unpack(fields))
  end
  leave_period(x.team, team)
  write_due(books, false)
  write_books(books)
  return { now, 'survey', call('HGETALL', x.team), records, use, held, micro, open }
end
