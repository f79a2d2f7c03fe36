-- Puts a team at the end of the list of all teams, once, and its name among those that are searched. Lies outside the team's
-- slot and is written last.
-- KEYS: teams, names. ARGV: team, its name in lower case.

local function index_team()
  local teams, names, team = key_at(1), key_at(2), text_at(1)
  if not call('ZSCORE', teams, team) then
    call('ZADD', teams, call('ZCARD', teams), team)
  end
  call('HSET', names, team, text_at(2))
  return { 0, 'indexed' }
end
