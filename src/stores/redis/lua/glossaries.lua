-- A team's glossaries. `glossaries` has their records, "<order> <created> [<revision> ]<JSON>", without a revision if it is the
-- first; `pairs` what an admission compares; the entries of each dictionary are in separate keys, and their sizes in `bytes`.
-- Each function writes or deletes all of these. The team's record has the sum of `bytes`; if it has none, the dictionaries were
-- written by a version that did not count, and the driver is asked to count them. KEYS: team, glossaries, pairs. ARGV: the head
-- (clock, deadline, offer), then the arguments listed at each function.

local function glossary_keys()
  return { team = key_at(1), glossaries = key_at(2), pairs = key_at(3), bytes = beside(key_at(1), 'bytes') }
end

local function entries_key(x, dictionary)
  return beside(x.team, 'entries:' .. dictionary)
end

-- New dictionaries: argument `first` is their number; then for each its id, its bytes, and its JSON, or '' and the JSON's
-- length if it is already stored under its key, written in chunks and about to expire.
local function new_entries(first)
  local new = { ids = {}, bytes = {}, json = {}, length = {}, sum = 0 }
  for i = 1, number_at(first) do
    local at = first + 4 * i - 3
    new.ids[i], new.bytes[i], new.json[i], new.length[i] = text_at(at), number_at(at + 1), text_at(at + 2), tonumber(text_at(at + 3))
    new.sum = new.sum + new.bytes[i]
  end
  return new
end

local function is_there(x, new)
  for i, id in ipairs(new.ids) do
    if new.length[i] and call('STRLEN', entries_key(x, id)) ~= new.length[i] then
      return false
    end
  end
  return true
end

local function write_entries(x, new)
  for i, id in ipairs(new.ids) do
    if new.length[i] then
      call('PERSIST', entries_key(x, id))
    else
      call('SET', entries_key(x, id), new.json[i])
    end
    call('HSET', x.bytes, id, digits(new.bytes[i]))
  end
end

-- The sum of the team's bytes; nil if they were never counted.
local function counted(x)
  -- A hash of the wrong type fails here, before anything is written.
  call('HLEN', x.bytes)
  local sum = call('HGET', x.team, 'glossary_bytes')
  if sum then
    return tonumber(sum)
  end
  return call('HLEN', x.pairs) == 0 and 0 or nil
end

local function is_over(most, before, after)
  return most ~= '' and after > tonumber(most) and after > before
end

-- The dictionaries that the glossary no longer holds: their ids and total bytes; nil if one was never counted.
local function dropped_of(x, glossary, before, now)
  local kept, ids, sum = {}, {}, 0
  for _, dictionary in string.gmatch(now, HELD) do
    kept[dictionary] = true
  end
  for _, dictionary in string.gmatch(before, HELD) do
    if not kept[dictionary] then
      insert(ids, dictionary == '' and glossary or dictionary)
    end
  end
  for _, id in ipairs(ids) do
    local bytes = call('HGET', x.bytes, id)
    sum = sum and bytes and sum + bytes
  end
  return ids, sum
end

local function drop_entries(x, ids)
  for _, id in ipairs(ids) do
    call('UNLINK', entries_key(x, id))
    call('HDEL', x.bytes, id)
  end
end

-- 7: glossary; 8: what it holds; 9: its record's JSON; 10: the most bytes that the team may have, '' for any; 11: new
-- dictionaries. An existing glossary is returned unchanged.
function timed.create_glossary(now)
  local x = glossary_keys()
  local id, held, json, most_bytes, new = text_at(7), text_at(8), text_at(9), text_at(10), new_entries(11)
  local team = call('HMGET', x.team, 'p', 'glossary_order')
  if not team[1] then
    return { now, 'none' }
  end
  local most = read_plan(team[1]).max_glossaries
  local record = call('HGET', x.glossaries, id)
  if record then
    return { now, 'created', record }
  end
  -- Two hashes with a field per glossary; one of the wrong type fails here, before anything is written.
  if max(call('HLEN', x.glossaries), call('HLEN', x.pairs)) >= most then
    return { now, 'limit', most }
  end
  local bytes = counted(x)
  if not bytes then
    return { now, 'uncounted' }
  elseif is_over(most_bytes, bytes, bytes + new.sum) then
    return { now, 'bytes', most }
  elseif not is_there(x, new) then
    return { now, 'incomplete' }
  end
  local order = (team[2] or 0) + 1
  record = digits(order) .. ' ' .. digits(now) .. ' ' .. json
  -- Not the number of glossaries: after a deletion two glossaries would get the same order.
  call('HSET', x.team, 'glossary_order', digits(order), 'glossary_bytes', digits(bytes + new.sum))
  write_entries(x, new)
  call('HSET', x.pairs, id, held)
  call('HSET', x.glossaries, id, record)
  return { now, 'created', record }
end

-- 7: glossary; 8: the revision that was read; 9: what it holds now; 10: its record's JSON; 11: the most bytes; 12: new
-- dictionaries.
function timed.change_glossary(now)
  local x = glossary_keys()
  local id, revision, held, json, most_bytes, new = text_at(7), number_at(8), text_at(9), text_at(10), text_at(11), new_entries(12)
  local record, before = call('HGET', x.glossaries, id), call('HGET', x.pairs, id)
  if not record or call('HEXISTS', x.team, 'b') == 0 then
    return { now, 'none' }
  end
  local order, created, present = string.match(record, '^(%d+) (%d+) (%d*)')
  if (tonumber(present) or 1) ~= revision then
    return { now, 'outdated' }
  end
  local bytes, ids, gone = counted(x), dropped_of(x, id, before or '', held)
  if not bytes or not gone then
    return { now, 'uncounted' }
  end
  local after = bytes - gone + new.sum
  if is_over(most_bytes, bytes, after) then
    return { now, 'bytes', read_plan(call('HGET', x.team, 'p')).max_glossaries }
  elseif not is_there(x, new) then
    return { now, 'incomplete' }
  end
  record = order .. ' ' .. created .. ' ' .. digits(revision + 1) .. ' ' .. json
  call('HSET', x.team, 'glossary_bytes', digits(after))
  write_entries(x, new)
  call('HSET', x.pairs, id, held)
  call('HSET', x.glossaries, id, record)
  drop_entries(x, ids)
  return { now, 'changed', record }
end

-- 7: glossary; then the audit arguments. Deletes the glossary and stores an audit entry, which a full server permits.
function timed.remove_glossary(now)
  local x, id = glossary_keys(), text_at(7)
  local audit, held = open_audit(x.team, 8, now), call('HGET', x.pairs, id)
  if call('HEXISTS', x.glossaries, id) == 0 and not held or call('HEXISTS', x.team, 'b') == 0 then
    return { now, 'none' }
  end
  local bytes, ids, gone = counted(x), dropped_of(x, id, held or '', '')
  call('HDEL', x.pairs, id)
  call('HDEL', x.glossaries, id)
  drop_entries(x, ids)
  if not bytes or not gone then
    call('HDEL', x.team, 'glossary_bytes')
  else
    call('HSET', x.team, 'glossary_bytes', digits(bytes - gone))
  end
  keep_audit(audit)
  return { now, 'removed' }
end

-- 7: the number of dictionaries that were counted; then the id and bytes of each. Answers 'counted' if all are counted now.
function timed.count_glossaries(now)
  local x, sum = glossary_keys(), 0
  if call('HEXISTS', x.team, 'b') == 0 then
    return { now, 'counted' }
  end
  for i = 8, 7 + 2 * number_at(7), 2 do
    call('HSET', x.bytes, text_at(i), digits(number_at(i + 1)))
  end
  local held = call('HGETALL', x.pairs)
  for i = 1, #held, 2 do
    for _, dictionary in string.gmatch(held[i + 1], HELD) do
      local bytes = call('HGET', x.bytes, dictionary == '' and held[i] or dictionary)
      if not bytes then
        return { now, 'uncounted' }
      end
      sum = sum + bytes
    end
  end
  call('HSET', x.team, 'glossary_bytes', digits(sum))
  return { now, 'counted' }
end
