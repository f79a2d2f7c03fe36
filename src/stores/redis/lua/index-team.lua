-- Puts a team at the end of the list of all teams, once, and its name into the lines that are searched; takes both away again when
-- it is deleted. Lies outside the team's slot and is written last.
-- KEYS: teams, searched, due. ARGV: team, its name in lower case.

-- Behind the last: places of teams that were deleted are not used again, as long as others stand behind them.
local function next_place(teams)
  local last = call('ZRANGE', teams, -1, -1, 'WITHSCORES')[2]
  return last and tonumber(last) + 1 or 0
end

-- The stretch of a team, its lines, what the team's own begins with, and where that is: nil where it has none.
local function line_of(searched, team, place)
  local stretch, mark = digits(floor(place / STRETCH)), digits(place) .. ' ' .. team .. ' '
  local lines = call('HGET', searched, stretch) or ''
  return stretch, lines, mark, string.find('\n' .. lines, '\n' .. mark, 1, true)
end

local function index_team()
  local teams, searched, due, team = key_at(1), key_at(2), key_at(3), text_at(1)
  local place = tonumber(call('ZSCORE', teams, team) or nil)
  if not place then
    place = next_place(teams)
    call('ZADD', teams, place, team)
  end
  -- The janitor finds out when it is due next.
  call('ZADD', due, 'NX', 0, team)
  local stretch, lines, mark, at = line_of(searched, team, place)
  local line = mark .. string.gsub(text_at(2), '\n', ' ') .. '\n'
  if at then
    -- It has another name now.
    lines = sub(lines, 1, at - 1) .. line .. sub(lines, string.find(lines, '\n', at, true) + 1)
  else
    lines = lines .. line
    call('HINCRBY', searched, 'teams', 1)
  end
  call('HSET', searched, stretch, lines)
  return { 0, 'indexed' }
end

local function unindex_team()
  local teams, searched, due, team = key_at(1), key_at(2), key_at(3), text_at(1)
  call('ZREM', due, team)
  local place = tonumber(call('ZSCORE', teams, team) or nil)
  if not place then
    return { 0, 'none' }
  end
  local stretch, lines, _, at = line_of(searched, team, place)
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

-- KEYS: a list of teams that are being deleted, or were. ARGV: team, score. Answers whether it was not in it.
local function note_team()
  return { 0, call('ZADD', key_at(1), 'NX', text_at(2), text_at(1)) == 1 and 'added' or 'known' }
end
