-- What can be called. `turn` takes the operations of many teams; `change` is the compare-and-set by which the driver writes everything
-- else: records, what is due of an account, whole accounts. On a full server they are called as `settle` and `free`
-- (function-library.ts).

-- KEYS: the teams' hashes. The call: { deadline, clock?, correction?, teams = { { operation, … }, … } }, an operation being an admission
-- (admit.lua), a commit { commit = id, characters? } or a release { release = id }; and the bounds of windows (windows.lua). What is
-- overdue does nothing. An answer is its `kind`, or an object if there is more to it.
local function turn(keys, args)
  call, format, floor, max, min = redis.call, string.format, math.floor, math.max, math.min
  local asked, bounds = cjson.decode(args[1]), decode(args[2])
  local now, is_overdue = time_of(asked)
  if is_overdue then
    return cjson.encode({ now = now, overdue = true })
  end
  -- Bounds are those of one moment: whoever is within its minute is within the others too.
  local is_within = now >= bounds.minute.startMs and now < bounds.minute.endMs
  local moment = { ms = now, text = format('%d', now), day = format('%d', floor(now / DAY_MS)), bounds = is_within and bounds }
  local answers = {}
  for i = 1, #keys do
    -- What follows an operation that is sent again follows it then, too.
    local ops, of_team = asked.teams[i], {}
    for j = 1, #ops do
      if of_team[j - 1] == 'look' then
        of_team[j] = 'look'
      else
        -- Data of one team that cannot be read is no matter of the others.
        local done, answer = pcall(ops[j].key and admit or settle, keys[i], ops[j], moment)
        of_team[j] = done and answer or { kind = 'failed', message = tostring(type(answer) == 'table' and answer.err or answer) }
      end
    end
    answers[i] = of_team
  end
  return cjson.encode({ now = now, answers = answers })
end

-- What the commands of a change need their key to be.
local KIND_OF = { HSET = 'hash', HSETNX = 'hash', HDEL = 'hash', HINCRBY = 'hash', ZADD = 'zset', ZREM = 'zset', RPUSH = 'list' }

-- KEYS[1]: the beginning of the keys that are named by how they go on. Writes only if each field has the text that is expected (false: it
-- is not there), each hash that is named with a size has that many fields, and each key that is named is there.
local function change(keys, args)
  local asked = cjson.decode(args[1])
  local now, is_overdue = time_of(asked)
  local function answer(kind)
    return cjson.encode({ now = now, kind = kind })
  end
  -- The driver has decided by a wrong time: it decides again by the one that it learns from the answer.
  if is_overdue then
    return answer('outdated')
  end
  for _, one in ipairs(asked.fields) do
    if redis.call('HGET', keys[1] .. one[1], one[2]) ~= one[3] then
      return answer('outdated')
    end
  end
  for _, one in ipairs(asked.sizes) do
    if redis.call('HLEN', keys[1] .. one[1]) ~= one[2] then
      return answer('outdated')
    end
  end
  for _, name in ipairs(asked.present) do
    if redis.call('EXISTS', keys[1] .. name) == 0 then
      return answer('incomplete')
    end
  end
  -- Nothing is written if something cannot be.
  for _, one in ipairs(asked.write) do
    local kind, found = KIND_OF[one[1]], redis.call('TYPE', keys[1] .. one[2]).ok
    if kind and found ~= 'none' and found ~= kind then
      error('WRONGTYPE ' .. keys[1] .. one[2] .. ' is a ' .. found)
    end
  end
  for _, one in ipairs(asked.write) do
    local command, name = one[1], keys[1] .. one[2]
    if command == 'RENAME' then
      redis.call('RENAME', name, keys[1] .. one[3])
      redis.call('PERSIST', keys[1] .. one[3])
    else
      redis.call(command, name, unpack(one, 3))
    end
  end
  return answer('changed')
end

-- KEYS[1] as in `change`. ARGV: how the key of a hash goes on, and a field of it, in turn. All values are of one moment, and a full server
-- reads them, which it would not in a transaction.
local function read(keys, args)
  local values = {}
  for i = 1, #args, 2 do
    values[(i + 1) / 2] = redis.call('HGET', keys[1] .. args[i], args[i + 1])
  end
  return values
end

-- KEYS[1]: all teams in order of creation. ARGV[1]: one that is new, or already there.
local function list_team(keys, args)
  local last = redis.call('ZREVRANGE', keys[1], 0, 0, 'WITHSCORES')
  redis.call('ZADD', keys[1], 'NX', (last[2] or 0) + 1, args[1])
end
