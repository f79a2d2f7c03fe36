-- A team's glossaries. `glossaries` holds their records, "<order> <created> [<revision> ]<JSON>", without a revision while it
-- is the first; `pairs` what an admission compares; beside them lie the entries of each dictionary, which are read by
-- themselves. Each script writes or deletes all of these.
-- KEYS: team, glossaries, pairs. ARGV: the head (clock, deadline, offer), then what each says.

local function glossary_keys()
  return { team = key_at(1), glossaries = key_at(2), pairs = key_at(3) }
end

local function entries_key(x, dictionary)
  return beside(x.team, 'entries:' .. dictionary)
end

-- New dictionaries: argument `first` says how many, id and entries of each follow.
local function new_entries(first)
  local entries = {}
  for i = first + 1, first + 2 * number_at(first), 2 do
    entries[text_at(i)] = text_at(i + 1)
  end
  return entries
end

local function write_entries(x, entries)
  for dictionary, json in pairs(entries) do
    call('SET', entries_key(x, dictionary), json)
  end
end

-- Of what the glossary held and does not hold any more.
local function drop_entries(x, glossary, before, now)
  local kept = {}
  for _, dictionary in string.gmatch(now, HELD) do
    kept[dictionary] = true
  end
  for _, dictionary in string.gmatch(before, HELD) do
    if not kept[dictionary] then
      call('UNLINK', entries_key(x, dictionary == '' and glossary or dictionary))
    end
  end
end

-- 7: glossary; 8: what it holds; 9: its record's JSON; 10: new dictionaries. One that exists already is answered as it is.
local function create_glossary()
  local now, late = read_clock()
  local x = glossary_keys()
  local id, held, json, entries = text_at(7), text_at(8), text_at(9), new_entries(10)
  if late then
    return { now, 'late' }
  end
  local team = call('HMGET', x.team, 'p', 'glossary_order')
  if not team[1] then
    return { now, 'none' }
  end
  local most = read_plan(team[1])[MAX_GLOSSARIES]
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
  write_entries(x, entries)
  call('HSET', x.pairs, id, held)
  call('HSET', x.glossaries, id, record)
  return { now, 'created', record }
end

-- 7: glossary; 8: the revision that was read; 9: what it holds now; 10: its record's JSON; 11: new dictionaries.
local function change_glossary()
  local now, late = read_clock()
  local x = glossary_keys()
  local id, revision, held, json, entries = text_at(7), number_at(8), text_at(9), text_at(10), new_entries(11)
  if late then
    return { now, 'late' }
  end
  local record, before = call('HGET', x.glossaries, id), call('HGET', x.pairs, id)
  if not record then
    return { now, 'none' }
  end
  local order, created, present = string.match(record, '^(%d+) (%d+) (%d*)')
  if (tonumber(present) or 1) ~= revision then
    return { now, 'outdated' }
  end
  record = order .. ' ' .. created .. ' ' .. digits(revision + 1) .. ' ' .. json
  write_entries(x, entries)
  call('HSET', x.pairs, id, held)
  call('HSET', x.glossaries, id, record)
  drop_entries(x, id, before or '', held)
  return { now, 'changed', record }
end

-- 7: glossary. Deletes only, which a full server allows.
local function remove_glossary()
  local now, late = read_clock()
  local x, id = glossary_keys(), text_at(7)
  if late then
    return { now, 'late' }
  end
  local held = call('HGET', x.pairs, id)
  if call('HEXISTS', x.glossaries, id) == 0 and not held then
    return { now, 'none' }
  end
  call('HDEL', x.pairs, id)
  call('HDEL', x.glossaries, id)
  drop_entries(x, id, held or '', '')
  return { now, 'removed' }
end
