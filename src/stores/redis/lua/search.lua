-- The index for searches by a part of a name or reference: each field of the hash has the lines `<position> <id> <name>` of this
-- many teams, in lower case, by position in the list of all teams; a reference follows the name after SEPARATOR. A single string.find
-- over a field rules out all of its teams; checking each team would cost twenty times as much.
--@ uses library: functions
--@ uses shared: call, floor, min, insert, unpack, sub, key_at, text_at, number_at, digits

local STRETCH, SEPARATOR = 250, '\31'

-- Adds a team to the end of the list of all teams, once, and its name to the search index; removes both when it is deleted. In
-- a different cluster slot from the team, and written last. KEYS: teams, searched, due. ARGV: team, its line in lower case.

-- The position of the team with this rank, nil if there is none.
local function position_of(teams, rank)
  return tonumber(call('ZRANGE', teams, rank, rank, 'WITHSCORES')[2] or nil)
end

-- After the last: positions of deleted teams are not reused unless they were the last.
local function next_position(teams)
  return (position_of(teams, -1) or -1) + 1
end

-- A team's field, the field's lines, the beginning of the team's own line, and its offset, nil if there is none.
local function line_of(searched, team, position)
  local stretch, mark = digits(floor(position / STRETCH)), digits(position) .. ' ' .. team .. ' '
  local lines = call('HGET', searched, stretch) or ''
  return stretch, lines, mark, string.find('\n' .. lines, '\n' .. mark, 1, true)
end

function functions.index_team()
  local teams, searched, due, team = key_at(1), key_at(2), key_at(3), text_at(1)
  local position = tonumber(call('ZSCORE', teams, team) or nil)
  if not position then
    position = next_position(teams)
    call('ZADD', teams, position, team)
  end
  -- The janitor computes when it is due next.
  call('ZADD', due, 'NX', 0, team)
  local stretch, lines, mark, at = line_of(searched, team, position)
  local line = mark .. string.gsub(text_at(2), '\n', ' ') .. '\n'
  if at then
    -- It has changed.
    lines = sub(lines, 1, at - 1) .. line .. sub(lines, string.find(lines, '\n', at, true) + 1)
  else
    lines = lines .. line
    call('HINCRBY', searched, 'teams', 1)
  end
  call('HSET', searched, stretch, lines)
  return { 0, 'indexed' }
end

function functions.unindex_team()
  local teams, searched, due, team = key_at(1), key_at(2), key_at(3), text_at(1)
  call('ZREM', due, team)
  local position = tonumber(call('ZSCORE', teams, team) or nil)
  if not position then
    return { 0, 'none' }
  end
  local stretch, lines, _, at = line_of(searched, team, position)
  if at then
    lines = sub(lines, 1, at - 1) .. sub(lines, string.find(lines, '\n', at, true) + 1)
    call('HINCRBY', searched, 'teams', -1)
    if lines == '' then
      call('HDEL', searched, stretch)
    else
      call('HSET', searched, stretch, lines)
    end
  end
  call('ZREM', teams, team)
  return { 0, 'removed' }
end

-- Finds the teams whose names, references or ids contain a text, or whose names or references are that text. KEYS: teams, searched.
-- ARGV: where to begin, a position or `#` and a rank, how many positions to check at least, the text in lower case, how many teams
-- are wanted, '1' if they are it. Answers the position at which to go on, or '' after the last team, and the ids; and whether every
-- team has a line.

local function is_it(line, text)
  local at = string.find(line, SEPARATOR, 1, true)
  return line == text or at and (sub(line, 1, at - 1) == text or sub(line, at + 1) == text)
end

function functions.find_teams()
  local teams, searched, start = key_at(1), key_at(2), text_at(1)
  local count, text, wanted, exact = number_at(2), text_at(3), number_at(4), text_at(5) == '1'
  local first, final = tonumber(start) or position_of(teams, sub(start, 2)), position_of(teams, -1)
  local named = tonumber(call('HGET', searched, 'teams') or 0) >= call('ZCARD', teams) and 'named' or 'unnamed'
  if not final or not first or first > final then
    return { 0, named, '', {} }
  end
  local from, fields, of_id = floor(first / STRETCH), {}, string.upper(text)
  local last = floor(min(final, first + count - 1) / STRETCH)
  for stretch = from, last do
    insert(fields, digits(stretch))
  end
  local found = {}
  for i, lines in ipairs(call('HMGET', searched, unpack(fields))) do
    local hits = {}
    if lines and (string.find(lines, text, 1, true) or string.find(lines, of_id, 1, true)) then
      for position, id, name in string.gmatch(lines, '(%d+) (%S+) ([^\n]*)\n') do
        local fits = is_it(name, text)
        if not exact then
          fits = fits or string.find(name, text, 1, true) or string.find(id, of_id, 1, true)
        end
        if fits and tonumber(position) >= first then
          insert(hits, { position = tonumber(position), id = id })
        end
      end
    end
    -- Sorted, because the line of a team whose name was added late comes after its position.
    table.sort(hits, function(a, b) return a.position < b.position end)
    for _, hit in ipairs(hits) do
      insert(found, hit.id)
    end
    if #found >= wanted then
      last = from + i - 1
      break
    end
  end
  local next_one = (last + 1) * STRETCH
  return { 0, named, next_one > final and '' or digits(next_one), found }
end
