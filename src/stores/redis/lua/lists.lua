-- What lies outside of teams' slots, each in a key of its own.
--@ uses library: functions
--@ uses shared: call, max, insert, sub, key_at, text_at, number_at, digits, believed_ms

-- Which teams the janitor has to check, and when: a sorted set of all teams by their next time, in the cluster slot of the list
-- of teams. KEYS: due. ARGV: for each team its id, the time it was due at, and the next one, or '' if there is no such team.

function functions.put_off()
  local due, teams = key_at(1), {}
  for i = 1, max(1, #ARGV), 3 do
    insert(teams, { id = text_at(i), was = number_at(i + 1), next_ms = text_at(i + 2) })
  end
  for _, team in ipairs(teams) do
    -- Another process may have called the janitor for this team in the meantime.
    if tonumber(call('ZSCORE', due, team.id) or nil) == team.was then
      if team.next_ms == '' then
        call('ZREM', due, team.id)
      else
        call('ZADD', due, team.next_ms, team.id)
      end
    end
  end
  return { 0, 'put off' }
end

-- KEYS: a list of teams that are being deleted, or were. ARGV: team, score. Answers whether it was added.
function functions.note_team()
  return { 0, call('ZADD', key_at(1), 'NX', text_at(2), text_at(1)) == 1 and 'added' or 'known' }
end

-- Which process sends events, until when, and by which rules events are stored: "<holder> <until> <rules>". KEYS: lease. ARGV:
-- holder, the time that the driver believes, or '', how long (0 releases it), the rules, how long they are remembered.

function functions.lease_outbox()
  local key, holder, now, for_ms = key_at(1), text_at(1), believed_ms(tonumber(text_at(2))), number_at(3)
  local rules, remembered = text_at(4), number_at(5)
  local by, until_ms = string.match(call('GET', key) or '', '^(%S+) (%d+) ')
  local is_ours = by == holder
  if for_ms == 0 and not is_ours or by and not is_ours and tonumber(until_ms) > now then
    return { now, 'held' }
  end
  call('SET', key, holder .. ' ' .. digits(now + for_ms) .. ' ' .. rules, 'PX', digits(for_ms + remembered))
  return { now, 'leased' }
end

-- Creates the id of an audit entry and adds it to the list over all teams, in its own cluster slot. If the change is not made,
-- the id refers to no entry; readers skip and remove it. KEYS: the list, a sorted set of `<id><team>`. ARGV: the time that the
-- driver believes, or '', and the team.

local MOMENT_BYTES, ID_BYTES = 15, 31

local function moment(ms)
  return string.format('%015.0f', max(0, ms))
end

function functions.begin_audit()
  local now = believed_ms(tonumber(text_at(1)))
  local list, team = key_at(1), text_at(2)
  local last = call('ZREVRANGEBYLEX', list, '(' .. moment(now + 1), '-', 'LIMIT', 0, 1)[1]
  local serial = 1
  if last and sub(last, 1, MOMENT_BYTES) == moment(now) then
    serial = tonumber(sub(last, MOMENT_BYTES + 1, ID_BYTES)) + 1
  end
  local id = moment(now) .. string.format('%016.0f', serial)
  call('ZADD', list, 0, id .. team)
  return { now, id }
end
