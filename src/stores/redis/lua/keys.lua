-- A team's keys. Their records are "<order> <created> <JSON>" in `keys`; what an admission needs lies in the team's record as
-- `k<key>`.
-- KEYS: team, keys. ARGV: the head (clock, deadline, offer), then key, the record's JSON when it is to be made, and what the
-- audit is told.

local function describe_key(x, now)
  return { now, 'key', call('HGET', x.keys, x.id), call('HGET', x.team, x.field) }
end

local function read_key()
  return { team = key_at(1), keys = key_at(2), id = text_at(7), field = 'k' .. text_at(7) }
end

-- A key that exists already is answered as it is.
local function create_key()
  local now, late = read_clock()
  local x, json = read_key(), text_at(8)
  if late then
    return { now, 'late' }
  end
  local audit = open_audit(x.team, 9, now)
  if call('HEXISTS', x.team, 'b') == 0 then
    return { now, 'none' }
  end
  if call('HEXISTS', x.keys, x.id) == 0 then
    local record = digits(call('HLEN', x.keys)) .. ' ' .. digits(now) .. ' ' .. json
    local state = pack(KEY, 1, 0, 0, 0, 0, 0)
    events.look(x.team)
    call('HSET', x.keys, x.id, record)
    call('HSET', x.team, x.field, state)
    keep_audit(audit)
    events.keep(x.team, x.id .. '-created', now, 'key_created', { x.id, record, state })
  end
  return describe_key(x, now)
end

local function revoke_key()
  local now, late = read_clock()
  local x = read_key()
  if late then
    return { now, 'late' }
  end
  local audit = open_audit(x.team, 8, now)
  local record = call('HGET', x.team, x.field)
  if call('HEXISTS', x.keys, x.id) == 0 or not record or call('HEXISTS', x.team, 'b') == 0 then
    return { now, 'none' }
  end
  local active = byte(record)
  if active == 1 then
    events.look(x.team)
    call('HSET', x.team, x.field, pack('B', 0) .. sub(record, 2))
    keep_audit(audit)
    events.keep(x.team, x.id .. '-revoked', now, 'key_revoked', { x.id, call('HGET', x.keys, x.id), call('HGET', x.team, x.field) })
  end
  local answer = describe_key(x, now)
  -- Whether it was this call that revoked it.
  insert(answer, active)
  return answer
end
