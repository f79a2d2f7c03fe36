-- A team's glossaries. `glossaries` holds their records, "<order> <created> <JSON>"; `pairs` what an admission compares;
-- `entries` is the key of one glossary's entries, which are read by themselves. Each script writes or deletes all three.
-- KEYS: team, glossaries, pairs, entries. ARGV: the head (clock, deadline, offer), then what each says.

local function glossary_keys()
  return { team = key_at(1), glossaries = key_at(2), pairs = key_at(3), entries = key_at(4) }
end

-- 7: glossary; 8: its pair; 9: its record's JSON; 10: its entries. One that exists already is answered as it is.
local function create_glossary()
  local now, late = read_clock()
  local x = glossary_keys()
  local id, pair, json, entries = text_at(7), text_at(8), text_at(9), text_at(10)
  if late then
    return { now, 'late' }
  end
  local team = call('HMGET', x.team, 'p', 'glossary_order')
  if not team[1] then
    return { now, 'none' }
  end
  local most = read_plan(team[1]).maxGlossaries
  local record = call('HGET', x.glossaries, id)
  if record then
    return { now, 'created', record }
  end
  -- Two hashes with a field per glossary: read here, so that one of a wrong type fails before anything is written.
  if max(call('HLEN', x.glossaries), call('HLEN', x.pairs)) >= most then
    return { now, 'limit', most }
  end
  local order = (team[2] or 0) + 1
  record = digits(order) .. ' ' .. digits(now) .. ' ' .. json
  -- Not the number of glossaries there are: after a deletion two would share it.
  call('HSET', x.team, 'glossary_order', digits(order))
  call('SET', x.entries, entries)
  call('HSET', x.pairs, id, pair)
  call('HSET', x.glossaries, id, record)
  return { now, 'created', record }
end

-- 7: glossary. Deletes only, which a full server allows.
local function remove_glossary()
  local now, late = read_clock()
  local x, id = glossary_keys(), text_at(7)
  if late then
    return { now, 'late' }
  end
  local known = call('HEXISTS', x.glossaries, id) + call('HEXISTS', x.pairs, id)
  if known == 0 then
    return { now, 'none' }
  end
  call('HDEL', x.pairs, id)
  call('HDEL', x.glossaries, id)
  call('UNLINK', x.entries)
  return { now, 'removed' }
end
