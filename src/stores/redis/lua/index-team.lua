-- Puts a team at the end of the list of all teams, once. Lies outside the team's slot and is written last.
-- KEYS: teams. ARGV: team.

local function index_team()
  local teams, team = key_at(1), text_at(1)
  if not call('ZSCORE', teams, team) then
    call('ZADD', teams, call('ZCARD', teams), team)
  end
  return { 0, 'indexed' }
end
