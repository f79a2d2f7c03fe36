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

-- The same for its tag, or for `*` if the team has as many others as it may: the day that runs, as `DAY CHARACTERS REQUESTS`, beside the
-- list of those before it.
local function count_tag(team_key, tag, characters, moment)
  local counts, name = team_key .. ':tag_counts', tag.name
  local text = call('HGET', counts, name)
  if not text and name ~= '*' then
    local others = call('HLEN', counts)
    local further = others >= tag.distinctMax and call('HGET', counts, '*')
    if others - (further and 1 or 0) >= tag.distinctMax then
      name, text = '*', further
    end
  end
  local day, had, requests = string.match(text or '', '^(%d+) (%d+) (%d+)$')
  if day and day ~= moment.day then
    local days = team_key .. ':tag_days'
    local earlier = call('HGET', days, name)
    call('HSET', days, name, (earlier and earlier .. ' ' or '') .. day .. ':' .. had .. ':' .. requests)
    had, requests = 0, 0
  end
  call('HSET', counts, name, format('%s %d %d', moment.day, (had or 0) + characters, (requests or 0) + 1))
end

-- What is not charged comes back to the windows in which it was counted, and to the period of its tag.
local function give_back(writes, held, characters, now)
  for name, ticket in pairs(held.tickets) do
    local subject = windowed_subject('team', name)
    local of_period = string.sub(name, 1, 4) == 'tag:' and 'count:' .. name .. ':period'
    local got = call('HMGET', writes.to, subject.field, of_period or '')
    if got[1] then
      open_windows(subject, got[1], now)
      give_back_to_windows(subject, ticket, characters)
      write(writes, subject.field, written_windows(subject))
    end
    local of_tag = got[2] and take(writes.to, of_period, got[2])
    if of_tag and of_tag.period == held.period and ticket > of_tag.from then
      of_tag.used = max(0, of_tag.used - characters)
      write_tag_counter(writes, of_period, of_tag)
    end
  end
end

local function settle(team_key, op, moment)
  local now, open = moment.ms, 'open:' .. (op.commit or op.release)
  local got = call('HMGET', team_key, open, 'period', 'lease', 'count:team:period')
  -- A team without a period is being deleted, and what it holds is charged to nobody.
  if not got[1] or not got[2] then
    return 'absent'
  end
  local period = decode(got[2])
  if period.endMs <= now or got[3] and decode(got[3]) <= now then
    return 'look'
  end
  local held = take(team_key, open, got[1])
  local reserved, charged, requests = held.characters, 0, 0
  if op.commit then
    charged, requests = min(op.characters or reserved, reserved), 1
  end
  local writes = { to = team_key }
  local function settle_counter(field, text)
    local one = period_counter(team_key, field, text, period.number)
    -- A key without a limit of its own holds nothing (`reserve`).
    one.held, one.used, one.requests = max(0, one.held - reserved), one.used + charged, one.requests + requests
    write_counter(writes, field, one)
  end
  if held.period == period.number then
    local of_key = 'count:key:' .. held.keyId .. ':period'
    settle_counter('count:team:period', got[4])
    settle_counter(of_key, call('HGET', team_key, of_key))
    if held.ofAllowance then
      settle_counter('count:test keys:period', call('HGET', team_key, 'count:test keys:period'))
    end
  end
  -- The price of a character is a whole number.
  local micro = reserved > 0 and held.priceMicro / reserved * charged or 0
  if held.priceMicro > 0 then
    local balance = take(team_key, 'balance', call('HGET', team_key, 'balance'))
    balance.micro, balance.held = balance.micro - micro, balance.held - held.priceMicro
    write_balance(writes, balance)
  end
  if held.tickets and charged < reserved then
    give_back(writes, held, reserved - charged, now)
  end
  if op.commit then
    count_day(team_key, held, charged, micro, moment)
    if held.tag then
      count_tag(team_key, held.tag, charged, moment)
    end
  end
  call('HDEL', team_key, open)
  if #writes > 0 then
    call('HSET', team_key, unpack(writes))
  end
  return op.commit and 'committed' or 'released'
end
