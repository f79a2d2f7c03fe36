-- Which teams the janitor has to check, and when: a sorted set of all teams by their next time, in the cluster slot of the list
-- of teams. KEYS: due. ARGV: for each team its id, the time it was due at, and the next one, or '' if there is no such team.

local function put_off()
  local due, teams = key_at(1), {}
  for i = 1, max(1, #ARGV), 3 do
    insert(teams, { id = text_at(i), was = number_at(i + 1), next_ms = text_at(i + 2) })
  end
  for _, team in ipairs(teams) do
    -- Another process may have called the janitor for this team in the meantime.
    if tonumber(call('ZSCORE', due, team.id) or nil) == team.was then
      if team.next_ms == '' then
        call('ZREM', due, team.id)
      else
        call('ZADD', due, team.next_ms, team.id)
      end
    end
  end
  return { 0, 'put off' }
end
