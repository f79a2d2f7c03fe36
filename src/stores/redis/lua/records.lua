-- Changes the records of a team (ports/record-space.ts): each table is a hash beside the team's record; a blob is a list of the
-- number of its pieces and the pieces, `:blob:<id>`, and `:blobs` a hash from each to that number. Before it is attached it is a
-- list of the pieces, `:prepared:<id>`, which expires.
-- KEYS: team. ARGV: the head (clock, deadline, offer), then the arguments listed at the function.
--@ uses library: timed
--@ uses shared: call, insert, unpack, key_at, text_at, number_at
--@ uses layout: beside
--@ uses audit: open_audit, keep_audit
--@ uses outbox: events
--@ uses team: teams
--@ uses keys: team_keys

local function blob_key(team, id)
  return beside(team, 'blob:' .. id)
end

local function prepared_key(team, id)
  return beside(team, 'prepared:' .. id)
end

-- Tables that admissions only read if the team has such a field, which is how many records there are.
local FIELDS = { tag_limits = 'g' }

local function count_records(team, name)
  local count = FIELDS[name] and call('HLEN', beside(team, name))
  if count == 0 then
    call('HDEL', team, FIELDS[name])
  elseif count then
    call('HSET', team, FIELDS[name], count)
  end
end

-- By word: the number of its arguments; `holds`, whether the team is such that the step can be made, which also fails for data of
-- the wrong type; and `make`; one of both may be absent. All are checked before the first is made. Both get the time after the
-- arguments.
local STEPS = {
  -- The team has not been deleted; the group of the shared records is none.
  team = {
    count = 0,
    holds = function(team)
      return call('HEXISTS', team, 'b') == 1
    end,
  },
  -- A record is as it was read.
  same = {
    count = 3,
    holds = function(team, name, id, value)
      return call('HGET', beside(team, name), id) == value
    end,
  },
  absent = {
    count = 2,
    holds = function(team, name, id)
      return call('HEXISTS', beside(team, name), id) == 0
    end,
  },
  put = {
    count = 3,
    holds = function(team, name)
      return call('HLEN', beside(team, name)) >= 0
    end,
    make = function(team, name, id, value)
      call('HSET', beside(team, name), id, value)
      count_records(team, name)
    end,
  },
  remove = {
    count = 2,
    holds = function(team, name)
      return call('HLEN', beside(team, name)) >= 0
    end,
    make = function(team, name, id)
      call('HDEL', beside(team, name), id)
      count_records(team, name)
    end,
  },
  -- An id of an index, which is a sorted set whose members all have score 0.
  index = {
    count = 2,
    holds = function(team, name)
      return call('ZCARD', beside(team, name)) >= 0
    end,
    make = function(team, name, id)
      call('ZADD', beside(team, name), 0, id)
    end,
  },
  unindex = {
    count = 2,
    holds = function(team, name)
      return call('ZCARD', beside(team, name)) >= 0
    end,
    make = function(team, name, id)
      call('ZREM', beside(team, name), id)
    end,
  },
  -- A blob of one piece.
  attach = {
    count = 2,
    holds = function(team)
      return call('HLEN', beside(team, 'blobs')) >= 0
    end,
    make = function(team, id, piece)
      call('DEL', blob_key(team, id))
      call('RPUSH', blob_key(team, id), '1', piece)
      call('HSET', beside(team, 'blobs'), id, '1')
    end,
  },
  -- A blob that was prepared, with the number of its pieces.
  hold = {
    count = 2,
    holds = function(team, id, pieces)
      call('HLEN', beside(team, 'blobs'))
      return call('LLEN', prepared_key(team, id)) == tonumber(pieces)
    end,
    make = function(team, id, pieces)
      call('LPUSH', prepared_key(team, id), pieces)
      call('PERSIST', prepared_key(team, id))
      call('RENAME', prepared_key(team, id), blob_key(team, id))
      call('HSET', beside(team, 'blobs'), id, pieces)
    end,
  },
  detach = {
    count = 1,
    holds = function(team)
      return call('HLEN', beside(team, 'blobs')) >= 0
    end,
    make = function(team, id)
      call('UNLINK', blob_key(team, id))
      call('HDEL', beside(team, 'blobs'), id)
    end,
  },
  -- An event, as JSON; with '1' the team's next number becomes a part of its id.
  event = {
    count = 3,
    holds = function(team)
      events.look(team)
      return true
    end,
    make = function(team, id, numbered, facts, now)
      events.keep(team, numbered == '1' and events.change_id(team, id, now) or id, now, 'facts', { facts })
    end,
  },
}
for word, step in pairs(team_keys.steps) do
  STEPS[word] = step
end

-- 7: the audit arguments; 10: the number of steps; then the word and arguments of each.
function timed.change_records(now)
  local team, steps, at = key_at(1), {}, 11
  local audit = open_audit(team, 7, now)
  for _ = 1, number_at(10) do
    local step = STEPS[text_at(at)]
    local args = {}
    for i = 1, step.count do
      args[i] = text_at(at + i)
    end
    args[step.count + 1] = now
    insert(steps, { step = step, word = text_at(at), args = args })
    at = at + 1 + step.count
  end
  for _, one in ipairs(steps) do
    if one.step.holds and not one.step.holds(team, unpack(one.args)) then
      if one.word == 'same_key' then
        -- As `read_group` has it, so that it need not be read again.
        return { now, 'outdated', teams.description(team), team_keys.values(team, one.args[1]) }
      end
      return { now, one.word == 'hold' and 'incomplete' or 'outdated' }
    end
  end
  for _, one in ipairs(steps) do
    if one.step.make then
      one.step.make(team, unpack(one.args))
    end
  end
  keep_audit(audit)
  return { now, 'changed' }
end

-- 7: the id of a key, or ''. What a change of the records is decided from, besides them: the team, and the key's record, state and
-- limits.
function timed.read_group(now)
  local team, id = key_at(1), text_at(7)
  if call('HEXISTS', team, 'b') == 0 then
    return { now, 'none' }
  end
  if id == '' then
    return { now, 'group', teams.description(team) }
  end
  return { now, 'group', teams.description(team), team_keys.values(team, id) }
end
