-- Settlements: a commit charges what was delivered of a reservation, a release nothing; the rest comes back to whatever it is held of. A
-- reservation that is not open was settled before, or its lease has ended.

-- Adds a charge to what is counted for its day, period and key: `DAY PERIOD KEY characters`, and so on.
local function count_day(team_key, held, characters, micro, moment)
  local days, name = team_key .. ':days', format('%s %d %s ', moment.day, held.period, held.keyId)
  call('HINCRBY', days, name .. 'requests', '1')
  if characters > 0 then
    local text = format('%d', characters)
    call('HINCRBY', days, name .. 'characters', text)
    if held.ofAllowance then
      call('HINCRBY', days, name .. 'ofAllowance', text)
    end
  end
  if micro > 0 then
    call('HINCRBY', days, name .. 'micro', format('%d', micro))
  end
end

-- The same for its tag, as what is to be written: the tag (beyond those that a team may have, `*` stands for all further ones), its record
-- in `tag_counts`, and if another day has begun, its list in `tag_days`.
local function counted_tag(team_key, tag, characters, moment)
  local counts, name = team_key .. ':tag_counts', tag.name
  local text = call('HGET', counts, name)
  if not text and name ~= '*' then
    local others = call('HLEN', counts)
    local further = others >= tag.distinctMax and call('HGET', counts, '*')
    if others - (further and 1 or 0) >= tag.distinctMax then
      name, text = '*', further
    end
  end
  local today, days = text and cjson.decode(text), nil
  if today and today.day ~= tonumber(moment.day) then
    local earlier = call('HGET', team_key .. ':tag_days', name)
    today, days = nil, (earlier and string.sub(earlier, 1, -2) .. ',' or '[') .. text .. ']'
  end
  today = today or { characters = 0, requests = 0 }
  local form = '{"day":%s,"characters":%d,"requests":%d}'
  return name, format(form, moment.day, today.characters + characters, today.requests + 1), days
end

-- What is not charged comes back to the windows in which it was counted.
local function give_back(writes, held, characters, number, now)
  for name, ticket in pairs(held.tickets) do
    local text = call('HGET', writes.to, 'windows:' .. name)
    if text then
      local subject = { of = string.match(name, '^tag'), name = name }
      open_windows(writes.to, subject, text, number, now)
      give_back_to_windows(subject, ticket, held.period, characters)
      write_windows(writes, subject)
    end
  end
end

local function settle_counter(writes, field, one, reserved, charged, requests)
  one.held, one.used, one.requests = max(0, one.held - reserved), one.used + charged, one.requests + requests
  write_counter(writes, field, one)
end

local function settle(team_key, op, moment)
  local now, open = moment.ms, 'open:' .. (op.commit or op.release)
  local got = call('HMGET', team_key, open, 'period', 'used', 'lease')
  -- A team without a period is being deleted, and what it holds is charged to nobody.
  if not got[1] or not got[2] then
    return 'absent'
  end
  local period = decode(got[2])
  -- What is due stays as it is until the driver has written it.
  if period.endMs <= now or got[4] and tonumber(got[4]) <= now then
    return 'look'
  end
  local held = take(team_key, open, got[1])
  local reserved, charged, requests = held.characters, 0, 0
  if op.commit then
    charged, requests = min(op.characters or reserved, reserved), 1
  end
  local writes = { to = team_key }
  if held.period == period.number then
    local of_team, used_field = counter_of(team_key, 'used', got[3], held.period), 'used:' .. held.keyId
    if held.ofAllowance then
      of_team.testUsed, of_team.testHeld = (of_team.testUsed or 0) + charged, max(0, (of_team.testHeld or 0) - reserved)
    end
    settle_counter(writes, 'used', of_team, reserved, charged, requests)
    local of_key = counter_of(team_key, used_field, call('HGET', team_key, used_field), held.period)
    settle_counter(writes, used_field, of_key, reserved, charged, requests)
  end
  -- The price of a character is a whole number.
  local micro = reserved > 0 and held.priceMicro / reserved * charged or 0
  if held.priceMicro > 0 then
    local balance = take(team_key, 'balance', call('HGET', team_key, 'balance'))
    balance.micro, balance.held = balance.micro - micro, balance.held - held.priceMicro
    write_balance(writes, balance)
  end
  if held.tickets and charged < reserved then
    give_back(writes, held, reserved - charged, period.number, now)
  end
  local tag, counts, days
  if op.commit and held.tag then
    tag, counts, days = counted_tag(team_key, held.tag, charged, moment)
  end
  -- All is read before anything is written: what fails is repeated, and must not have charged a day.
  if op.commit then
    count_day(team_key, held, charged, micro, moment)
  end
  if tag then
    call('HSET', team_key .. ':tag_counts', tag, counts)
  end
  if days then
    call('HSET', team_key .. ':tag_days', tag, days)
  end
  call('HDEL', team_key, open)
  if #writes > 0 then
    call('HSET', team_key, unpack(writes))
  end
  return op.commit and 'committed' or 'released'
end
