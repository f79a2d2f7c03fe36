-- Usage by day of a team's keys, as stored; the driver decodes it. KEYS: team, keys, days. ARGV: the head (clock, deadline,
-- offer).

local function usage_days()
  local now, late = read_clock()
  local team_key, keys_key, days_key = key_at(1), key_at(2), key_at(3)
  if late then
    return { now, 'late' }
  end
  -- Usage of a deleted team may have been kept.
  if call('HEXISTS', team_key, 'b') == 0 and call('HEXISTS', team_key, 'erased_b') == 0 then
    return { now, 'none' }
  end
  return { now, 'days', digits(now), call('HGETALL', team_key), call('HGETALL', keys_key), call('HGETALL', days_key) }
end
