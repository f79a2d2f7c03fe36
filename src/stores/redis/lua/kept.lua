-- The kept usage of a deleted team (erase.lua): its days in `:days`, its periods in `:periods`, all of them closed.
-- KEYS: team. ARGV: the head (clock, deadline, offer).
--@ uses constants: KEY
--@ uses library: timed
--@ uses shared: call, floor, parse, key_at, number_at, digits
--@ uses layout: DAY_MS, beside
--@ uses team: closed_periods
--@ uses days: days

function timed.kept_periods(at_ms)
  if call('HEXISTS', key_at(1), 'erased_b') == 0 then
    return { at_ms, 'none' }
  end
  return { at_ms, 'periods', digits(at_ms), call('HGETALL', key_at(1)), call('HGETALL', beside(key_at(1), 'periods')) }
end

-- Moves the key's last counts to its days, then drops what is too old.
local function tend_key(team, days_key, id, packed, first)
  local state, of, key = call('HGET', team, 'k' .. id), days.read(packed), {}
  if state then
    key.active, key.last_use, key.number, key.characters, key.requests, key.day = parse(KEY, state)
    days.close(of, key)
  end
  days.drop(of, first)
  if of.list == '' then
    call('HDEL', days_key, id)
    call('HDEL', team, 'k' .. id)
  elseif of.changed then
    call('HSET', days_key, id, days.record(of))
  end
end

-- 7: how many days of history are kept. Answers 'useless' if nothing is left.
function timed.tend_kept(at_ms)
  local team, kept_days = key_at(1), number_at(7)
  if call('HEXISTS', team, 'erased_b') == 0 then
    return { at_ms, 'none' }
  end
  local days_key, periods_key, first = beside(team, 'days'), beside(team, 'periods'), floor(at_ms / DAY_MS) - kept_days
  call('HDEL', days_key, days.DONE)
  for id, packed in pairs(closed_periods.named(call('HGETALL', days_key))) do
    tend_key(team, days_key, id, packed, first)
  end
  closed_periods.drop(periods_key, at_ms - kept_days * DAY_MS)
  local is_left = call('EXISTS', days_key, periods_key) > 0
  return { at_ms, is_left and 'tended' or 'useless' }
end
