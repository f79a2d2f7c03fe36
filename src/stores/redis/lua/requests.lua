-- Requests that must take effect once (ports/idempotency-records.ts), all in one cluster slot. KEYS: `ends`, a sorted set of their ids by
-- when they are forgotten; `teams`, a sorted set of `<team> <id>`, all with score 0, of those that concern a team; the prefix of
-- their records: hashes with `request`, `record`, `team`, and either `answer` or `holder` and `lease`. ARGV: listed at each.
--@ uses library: functions
--@ uses shared: call, sub, NONE, key_at, text_at, number_at, digits, believed_ms

-- How many one call forgets.
local FORGOTTEN_MAX = 250

local function record_of(id)
  return key_at(3) .. id
end

local function forget(id)
  local team = call('HGET', record_of(id), 'team')
  if team then
    call('ZREM', key_at(2), team .. ' ' .. id)
  end
  call('UNLINK', record_of(id))
  call('ZREM', key_at(1), id)
end

local function forget_ended(now)
  local ended = call('ZRANGEBYSCORE', key_at(1), '-inf', digits(now), 'LIMIT', 0, FORGOTTEN_MAX)
  for _, id in ipairs(ended) do
    forget(id)
  end
  return #ended == FORGOTTEN_MAX
end

local function add_team(id, team)
  if team ~= '' then
    call('HSET', record_of(id), 'team', team)
    call('ZADD', key_at(2), 0, team .. ' ' .. id)
  end
end

local function is_held(id, holder)
  return call('HGET', record_of(id), 'holder') == holder
end

-- 1: clock or ''; 2: id; 3: request; 4: id of the record; 5: team or ''; 6: holder; 7: its lease; 8: how long to remember it;
-- 9: how many are remembered.
function functions.claim_request()
  local now, id, request, holder = believed_ms(tonumber(text_at(1))), text_at(2), text_at(3), text_at(6)
  local lease, remembered, most = digits(now + number_at(7)), number_at(8), number_at(9)
  forget_ended(now)
  local until_ms = tonumber(call('ZSCORE', key_at(1), id) or nil)
  local found = call('HMGET', record_of(id), 'request', 'record', 'answer', 'holder', 'lease')
  if found[1] and until_ms and until_ms > now then
    if found[1] ~= request then
      return { now, 'other' }
    elseif found[3] then
      return { now, 'answered', found[3] }
    elseif found[4] and found[4] ~= holder and tonumber(found[5]) > now then
      return { now, 'running' }
    end
    call('HSET', record_of(id), 'holder', holder, 'lease', lease)
    return { now, 'claimed', found[2] }
  end
  forget(id)
  call('HSET', record_of(id), 'request', request, 'record', text_at(4), 'holder', holder, 'lease', lease)
  add_team(id, text_at(5))
  call('ZADD', key_at(1), digits(now + remembered), id)
  -- The janitor forgets them in time. Redis must not: its own clock may be wrong. Versions before let these expire.
  for i = 1, 2 do
    call('PERSIST', key_at(i))
  end
  local over = call('ZCARD', key_at(1)) - most
  for _, oldest in ipairs(over > 0 and call('ZRANGE', key_at(1), 0, over) or NONE) do
    -- After a clock has gone back, this one may be the oldest.
    if oldest ~= id and over > 0 then
      forget(oldest)
      over = over - 1
    end
  end
  return { now, 'claimed', text_at(4) }
end

-- 1: id; 2: holder; 3: the answer; 4: the team that it concerns, or ''.
function functions.finish_request()
  local id = text_at(1)
  if not is_held(id, text_at(2)) then
    return { 0, 'lost' }
  end
  add_team(id, text_at(4))
  call('HSET', record_of(id), 'answer', text_at(3))
  call('HDEL', record_of(id), 'holder', 'lease')
  return { 0, 'finished' }
end

-- 1: id; 2: holder, or '' to forget it whoever holds it; 3: 'forget' or 'repeat'.
function functions.release_request()
  local id, holder = text_at(1), text_at(2)
  if holder ~= '' and not is_held(id, holder) then
    return { 0, 'lost' }
  elseif text_at(3) == 'forget' then
    forget(id)
  else
    call('HDEL', record_of(id), 'holder', 'lease')
  end
  return { 0, 'released' }
end

-- 1: a team that was deleted. Forgets some that concern it; answers 'more' until none is left.
function functions.forget_requests()
  local team = text_at(1)
  local members = call('ZRANGEBYLEX', key_at(2), '[' .. team .. ' ', '(' .. team .. '!', 'LIMIT', 0, FORGOTTEN_MAX)
  for _, member in ipairs(members) do
    forget(sub(member, #team + 2))
    call('ZREM', key_at(2), member)
  end
  return { 0, #members == FORGOTTEN_MAX and 'more' or 'done' }
end

-- 1: clock or ''. Forgets some whose time is over; answers 'more' until none is left.
function functions.sweep_requests()
  local now = believed_ms(tonumber(text_at(1)))
  return { now, forget_ended(now) and 'more' or 'done' }
end
