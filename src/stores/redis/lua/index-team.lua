-- Puts a team at the end of the list of all teams, once, and its name into the lines that are searched. Lies outside the team's
-- slot and is written last.
-- KEYS: teams, searched, due. ARGV: team, its name in lower case.

local function index_team()
  local teams, searched, due, team = key_at(1), key_at(2), key_at(3), text_at(1)
  local place = tonumber(call('ZSCORE', teams, team) or nil)
  if not place then
    place = call('ZCARD', teams)
    call('ZADD', teams, place, team)
  end
  -- The janitor finds out when it is due next.
  call('ZADD', due, 'NX', 0, team)
  local stretch, mark = digits(floor(place / STRETCH)), digits(place) .. ' ' .. team .. ' '
  local line = mark .. string.gsub(text_at(2), '\n', ' ') .. '\n'
  local lines = call('HGET', searched, stretch) or ''
  local at = string.find('\n' .. lines, '\n' .. mark, 1, true)
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
