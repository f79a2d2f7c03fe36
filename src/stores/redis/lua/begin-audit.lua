-- Creates the id of an audit entry and adds it to the list over all teams, in its own cluster slot. If the change is not made,
-- the id refers to no entry; readers skip and remove it. KEYS: the list, a sorted set of `<id><team>`. ARGV: clock or '', team,
-- how long entries are kept.

local MOMENT_BYTES, ID_BYTES = 15, 31

local function moment(ms)
  return string.format('%015.0f', max(0, ms))
end

local function begin_audit()
  local now = tonumber(text_at(1)) or server_ms()
  local list, team, kept = key_at(1), text_at(2), number_at(3)
  local last = call('ZREVRANGEBYLEX', list, '(' .. moment(now + 1), '-', 'LIMIT', 0, 1)[1]
  local serial = 1
  if last and sub(last, 1, MOMENT_BYTES) == moment(now) then
    serial = tonumber(sub(last, MOMENT_BYTES + 1, ID_BYTES)) + 1
  end
  local id = moment(now) .. string.format('%016.0f', serial)
  call('ZADD', list, 0, id .. team)
  call('PEXPIRE', list, kept)
  return { now, id }
end
