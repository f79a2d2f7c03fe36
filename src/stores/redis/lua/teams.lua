-- Teams: create, update, and read with their keys. KEYS: team; some also take keys. ARGV: the head (clock, deadline, offer),
-- then the arguments listed at each function.
--@ uses constants: PLAN_BYTES, BOOKS, HEAD_HELD
--@ uses library: timed
--@ uses shared: call, insert, unpack, pack, parse, NONE, key_at, text_at, number_at, digits
--@ uses layout: beside
--@ uses plan: read_plan
--@ uses outbox: events
--@ uses team: teams
--@ uses audit: open_audit, keep_audit

-- Amounts and counts are exact up to here.
local NUMBER_MAX = 9007199254740991

-- Arguments from `first` on: how many follow, then names and values of the team's fields. Also returns the next position.
local function read_fields(first)
  local fields, named = {}, {}
  for i = first + 1, first + number_at(first), 2 do
    insert(fields, text_at(i))
    insert(fields, text_at(i + 1))
    named[text_at(i)] = text_at(i + 1)
  end
  return fields, named, first + 1 + #fields
end

local function described(now, team_key)
  return { now, 'team', teams.description(team_key) }
end

-- Whether two descriptions differ in more than the books; plans written before a number was introduced have 0 for it.
local PLAN_AT, BOOKS_AT = 6, 7

local function differ(before, after)
  for i = 1, #after do
    local was, is = before[i] or '', after[i] or ''
    if i == PLAN_AT then
      was, is = was .. string.rep('\0', PLAN_BYTES - #was), is .. string.rep('\0', PLAN_BYTES - #is)
    end
    if i ~= BOOKS_AT and was ~= is then
      return true
    end
  end
  return false
end

-- 7: the balance; then fields; then the audit arguments. An existing team is returned unchanged.
function timed.create_team(now)
  local team_key, offer, balance = key_at(1), teams.read_offer(), number_at(7)
  local fields, named, behind = read_fields(8)
  local audit = open_audit(team_key, behind, now)
  if call('HEXISTS', team_key, 'b') == 1 then
    return described(now, team_key)
  elseif call('HEXISTS', team_key, 'erasure') == 1 then
    return { now, 'erasing' }
  end
  -- The offered period begins at the time of the function's first answer, which becomes the team's creation time.
  if not offer.ends or offer.length ~= named.period or now >= offer.ends then
    return teams.ask_for_bounds(now, now, named.period)
  end
  events.look(team_key)
  call('HSET', team_key, 'b', pack(BOOKS, 1, offer.starts, offer.ends, 0, balance), 'created', digits(offer.anchor),
    -- A team's first balance is credit that was added.
    'credit', teams.pack_credit(1, { opening = 0, added = balance, deducted = 0 }), unpack(fields))
  local answer = described(now, team_key)
  keep_audit(audit, NONE, answer[3])
  events.keep(team_key, events.team_of(team_key) .. '-created', now, 'created', answer[3], teams.DESCRIBED)
  return answer
end

-- The ids of remembered changes, by their expiry; used to delete the changes with the team.
local function remember_change(team_key, once, now, remembered)
  local changes = beside(team_key, 'changes')
  call('ZREMRANGEBYSCORE', changes, '-inf', digits(now))
  call('ZADD', changes, digits(now + remembered), once)
  call('PEXPIRE', changes, remembered)
end

-- 7: micro to add; 8: an idempotency id, or ''; 9: the request made under it; 10: how long to remember that; then fields; then
-- the audit arguments.
function timed.update_team(now)
  local team_key, offer, add = key_at(1), teams.read_offer(), number_at(7)
  local once, request, remembered = text_at(8), text_at(9), number_at(10)
  local fields, named, behind = read_fields(11)
  local team = teams.read(team_key)
  if not team then
    return { now, 'none' }
  end
  local audit, before = open_audit(team_key, behind, now), teams.description(team_key)
  local done = once ~= '' and call('GET', beside(team_key, 'once:' .. once))
  if done then
    return done == request and described(now, team_key) or { now, 'other' }
  end
  if team.next and now >= team.ends then
    return { now, 'ended' }
  end
  local balance_before = team.balance
  events.look(team_key)
  -- A key of the wrong type fails here, before anything is written.
  call('ZCARD', beside(team_key, 'changes'))
  -- Only needed if credit is withdrawn; the driver has expired leases before.
  local head = add < 0 and call('HGET', beside(team_key, 'ids'), 'h')
  local held = head and select(2, parse(HEAD_HELD, head)) or 0
  if add < 0 and team.balance + add < held then
    return { now, 'held', digits(team.balance - held) }
  elseif team.balance + add > NUMBER_MAX then
    return { now, 'balance' }
  end
  if named.period and not teams.is_same_length(named.period, team.length) then
    -- Begins a period at the time of the function's first answer, from which the following ones are counted unless they follow
    -- the calendar. A period that follows a current one starts after its anchor: such an offer was computed for another
    -- question.
    if not offer.ends or offer.length ~= named.period or offer.starts > offer.anchor or now >= offer.ends then
      return teams.ask_for_bounds(now, now, named.period)
    end
    offer.starts = offer.anchor
    teams.begin_period(team, offer)
    insert(fields, 'anchor')
    insert(fields, digits(offer.anchor))
  elseif not teams.follow_period(team, offer, now) then
    return teams.ask_for_bounds(now, teams.following(team))
  end
  teams.add_credit(team, add)
  if team.credit then
    insert(fields, 'credit')
    insert(fields, teams.pack_credit(team.number, team.credit))
  end
  call('HSET', team_key, 'b', teams.books(team), unpack(fields))
  for name, value in pairs(named) do
    if value == '' then
      call('HDEL', team_key, name)
    end
  end
  teams.write_use(team.key, team.use)
  if add > 0 then
    events.rearm_credit(team_key, team.number)
  end
  if once ~= '' then
    call('SET', beside(team_key, 'once:' .. once), request, 'PX', remembered)
    remember_change(team_key, once, now, remembered)
  end
  local answer = described(now, team_key)
  if add ~= 0 or differ(before, answer[3]) then
    keep_audit(audit, before, answer[3])
  end
  events.keep(team_key, events.change_id(team_key, events.team_of(team_key) .. '-updated', now), now, 'updated', answer[3], teams.DESCRIBED)
  if read_plan(answer[3][6]).on_credit then
    events.report_credit(team_key, now, balance_before, team.balance, answer[3][5])
  end
  return answer
end

-- KEYS 2: keys. The team and its keys' records and counts, in the current period.
function timed.usage(now)
  local team_key, keys_key, offer = key_at(1), key_at(2), teams.read_offer()
  local team = teams.read(team_key)
  if not team then
    return { now, 'none' }
  end
  if not teams.follow_period(team, offer, now) then
    return teams.ask_for_bounds(now, teams.following(team))
  end
  local records = call('HGETALL', keys_key)
  if team.changed then
    call('HSET', team_key, 'b', teams.books(team), 'credit', teams.pack_credit(team.number, team.credit))
    teams.write_use(team.key, team.use)
    if team.taken then
      teams.write_taken(team_key, team.taken, team.number, now)
    end
  end
  return { now, 'usage', call('HGETALL', team_key), records }
end

-- KEYS 2 and 3: keys, days. Usage by day of the team's keys, as stored; the driver decodes it.
function timed.usage_days(now)
  local team_key, keys_key, days_key = key_at(1), key_at(2), key_at(3)
  -- Usage of a deleted team may have been kept.
  if call('HEXISTS', team_key, 'b') == 0 and call('HEXISTS', team_key, 'erased_b') == 0 then
    return { now, 'none' }
  end
  return { now, 'days', digits(now), call('HGETALL', team_key), call('HGETALL', keys_key), call('HGETALL', days_key) }
end
