-- Settlements: a commit charges what was delivered of a reservation, a release nothing; the rest comes back to whatever it is held of. A
-- reservation that is not open was settled before, or its lease has ended.

-- Adds a charge to what is counted for its day, period and key: `DAY PERIOD KEY characters`, and so on.
local function count_day(team_key, held, characters, micro, now)
  local days, name = team_key .. ':days', string.format('%d %d %s ', math.floor(now / DAY_MS), held.period, held.keyId)
  redis.call('HINCRBY', days, name .. 'requests', 1)
  if characters > 0 then
    redis.call('HINCRBY', days, name .. 'characters', characters)
  end
  if micro > 0 then
    redis.call('HINCRBY', days, name .. 'micro', string.format('%d', micro))
  end
  if held.ofAllowance and characters > 0 then
    redis.call('HINCRBY', days, name .. 'ofAllowance', characters)
  end
end

-- The same for its tag, or for `*` if the team has as many others as it may: the day that runs, as `DAY CHARACTERS REQUESTS`, beside the
-- list of those before it.
local function count_tag(team_key, tag, characters, now)
  local counts, name, today = team_key .. ':tag_counts', tag.name, math.floor(now / DAY_MS)
  local text = redis.call('HGET', counts, name)
  if not text and name ~= '*' then
    local others = redis.call('HLEN', counts)
    local further = others >= tag.distinctMax and redis.call('HGET', counts, '*')
    if others - (further and 1 or 0) >= tag.distinctMax then
      name, text = '*', further
    end
  end
  local day, had, requests = string.match(text or '', '^(%d+) (%d+) (%d+)$')
  if day and tonumber(day) ~= today then
    local days = team_key .. ':tag_days'
    local earlier = redis.call('HGET', days, name)
    redis.call('HSET', days, name, (earlier and earlier .. ' ' or '') .. day .. ':' .. had .. ':' .. requests)
    had, requests = 0, 0
  end
  redis.call('HSET', counts, name, string.format('%d %d %d', today, (had or 0) + characters, (requests or 0) + 1))
end

-- What is not charged comes back to the windows in which it was counted, and to the period of its tag.
local function give_back(team_key, held, characters, now, writes)
  for name, ticket in pairs(held.tickets) do
    local subject = windowed_subject('team', name)
    local is_tag = string.sub(name, 1, 4) == 'tag:'
    local got = redis.call('HMGET', team_key, subject.field, is_tag and 'count:' .. name .. ':period' or '')
    if got[1] then
      open_windows(subject, got[1], now)
      give_back_to_windows(subject, ticket, characters)
      writes[#writes + 1], writes[#writes + 2] = subject.field, written_windows(subject)
    end
    local of_tag = got[2] and cjson.decode(got[2])
    if of_tag and of_tag.period == held.period and ticket > of_tag.from then
      of_tag.used = math.max(0, of_tag.used - characters)
      writes[#writes + 1], writes[#writes + 2] = 'count:' .. name .. ':period', written_tag_counter(of_tag)
    end
  end
end

local function settle(team_key, op, now)
  local id = op.commit or op.release
  local got = redis.call('HMGET', team_key, 'open:' .. id, 'period', 'lease', 'count:team:period')
  -- A team without a period is being deleted, and what it holds is charged to nobody.
  if not got[1] or not got[2] then
    return { kind = 'absent' }
  end
  local period = decode(got[2])
  if period.endMs <= now or got[3] and tonumber(got[3]) <= now then
    return { kind = 'look' }
  end
  local held = cjson.decode(got[1])
  local reserved, charged = held.characters, 0
  if op.commit then
    charged = math.min(op.characters or reserved, reserved)
  end
  local requests, writes = op.commit and 1 or 0, {}
  local function settle_counter(field, text)
    local one = period_counter(text, period.number)
    -- A key without a limit of its own holds nothing (`reserve`).
    one.held, one.used, one.requests = math.max(0, one.held - reserved), one.used + charged, one.requests + requests
    writes[#writes + 1], writes[#writes + 2] = field, written_counter(one)
  end
  if held.period == period.number then
    local of_key = 'count:key:' .. held.keyId .. ':period'
    settle_counter('count:team:period', got[4])
    settle_counter(of_key, redis.call('HGET', team_key, of_key))
    if held.ofAllowance then
      settle_counter('count:test keys:period', redis.call('HGET', team_key, 'count:test keys:period'))
    end
  end
  -- The price of a character is a whole number.
  local micro = reserved > 0 and held.priceMicro / reserved * charged or 0
  if held.priceMicro > 0 then
    local balance = cjson.decode(redis.call('HGET', team_key, 'balance'))
    balance.micro, balance.held = balance.micro - micro, balance.held - held.priceMicro
    writes[#writes + 1], writes[#writes + 2] = 'balance', written_balance(balance)
  end
  if held.tickets and charged < reserved then
    give_back(team_key, held, reserved - charged, now, writes)
  end
  if op.commit then
    count_day(team_key, held, charged, micro, now)
    if held.tag then
      count_tag(team_key, held.tag, charged, now)
    end
  end
  redis.call('HDEL', team_key, 'open:' .. id)
  if #writes > 0 then
    redis.call('HSET', team_key, unpack(writes))
  end
  return { kind = op.commit and 'committed' or 'released' }
end
