-- Adds a team to the end of the list of all teams, once, and its name to the search index; removes both when it is deleted. In
-- a different cluster slot from the team, and written last. KEYS: teams, searched, due. ARGV: team, its name in lower case.

-- After the last: positions of deleted teams are not reused unless they were the last.
local function next_position(teams)
  local last = call('ZRANGE', teams, -1, -1, 'WITHSCORES')[2]
  return last and tonumber(last) + 1 or 0
end

-- A team's field, the field's lines, the beginning of the team's own line, and its offset, nil if there is none.
local function line_of(searched, team, position)
  local stretch, mark = digits(floor(position / STRETCH)), digits(position) .. ' ' .. team .. ' '
  local lines = call('HGET', searched, stretch) or ''
  return stretch, lines, mark, string.find('\n' .. lines, '\n' .. mark, 1, true)
end

local function index_team()
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
    -- Its name has changed.
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

-- KEYS: a list of teams that are being deleted, or were. ARGV: team, score. Answers whether it was added.
local function note_team()
  return { 0, call('ZADD', key_at(1), 'NX', text_at(2), text_at(1)) == 1 and 'added' or 'known' }
end
