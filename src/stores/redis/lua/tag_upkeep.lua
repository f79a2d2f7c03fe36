-- What time alone does to the tags of a team, some hundred of them per call, so that other teams wait for some milliseconds at most
-- however many there are. KEYS: team. ARGV: the head (clock, deadline, offer), then the arguments listed at the function.
--@ uses library: timed
--@ uses shared: call, floor, insert, unpack, sub, key_at, text_at, number_at, call_in_pieces
--@ uses layout: DAY_MS, beside

-- About how many records a call reads; the arguments of a command are bounded, too.
local SCANNED = 500

-- A list of days of a tag without those before `first`, which are at its beginning (tags.lua).
local function days_since(list, first)
  local at = 1
  while at <= #list do
    local day, behind = string.match(list, '^(%d+):%d+:%d+ ?()', at)
    if tonumber(day) >= first then
      break
    end
    at = behind
  end
  return sub(list, at)
end

-- The values of a table by the ids of these records, false for none.
local function beside_records(team, name, records)
  local ids = {}
  for i = 1, #records, 2 do
    insert(ids, records[i])
  end
  return ids, #ids == 0 and ids or call('HMGET', beside(team, name), unpack(ids))
end

local DROP = {}

-- What was counted before `first`, and tags of which nothing is left.
function DROP.tag_counts(team, counted, first)
  local tags, listed = beside_records(team, 'tag_days', counted)
  local changed, unlisted, gone = {}, {}, {}
  for i, tag in ipairs(tags) do
    local list = listed[i] or ''
    local left = days_since(list, first)
    if left ~= '' and left ~= list then
      insert(changed, tag)
      insert(changed, left)
    elseif left ~= list then
      insert(unlisted, tag)
    end
    if left == '' and tonumber(string.match(counted[2 * i], '^%d+')) < first then
      insert(gone, tag)
    end
  end
  call_in_pieces('HSET', beside(team, 'tag_days'), changed)
  call_in_pieces('HDEL', beside(team, 'tag_days'), unlisted)
  call_in_pieces('HDEL', beside(team, 'tag_counts'), gone)
end

-- What was used of settings that were removed, by the rule of stores/records/tag-uses.ts.
function DROP.tag_uses(team, used, _, now)
  local tags, limits = beside_records(team, 'tag_limits', used)
  local gone = {}
  for i, tag in ipairs(tags) do
    if not limits[i] and tonumber(string.match(used[2 * i], '^%d+')) <= now - DAY_MS then
      insert(gone, tag)
    end
  end
  call_in_pieces('HDEL', beside(team, 'tag_uses'), gone)
end

-- 7: how many days of history are kept; 8: the table, 9: where to go on, '0' for its beginning. Answers where the next call goes on,
-- '0' at the end.
function timed.drop_tags(now)
  local team, first, name = key_at(1), floor(now / DAY_MS) - number_at(7), text_at(8)
  local found = call('HSCAN', beside(team, name), text_at(9), 'COUNT', SCANNED)
  DROP[name](team, found[2], first, now)
  return { now, 'dropped', found[1] }
end
