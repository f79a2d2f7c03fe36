-- What a team has used and what its open reservations hold at this moment.
-- KEYS: team. ARGV: the head (clock, deadline, offer).

local function standing()
  local now, late = read_clock()
  local team_key, offer = key_at(1), read_offer()
  if late then
    return { now, 'late' }
  end
  local team = read_team(team_key)
  if not team then
    return { now, 'none' }
  end
  local account = open_account(team, offer, now, {})
  if not account then
    return ask_for_bounds(now, team.anchor, team.length)
  end
  write_account(account)
  local open, fields, head = 0, call('HGETALL', account.ids.key), account.ids.head
  for i = 1, #fields, 2 do
    -- Fields with names of one letter are not ids.
    if #fields[i] > 1 and byte(fields[i + 1]) == IS_OPEN then
      open = open + 1
    end
  end
  return { now, 'standing', digits(team.used), digits(head.held), digits(team.balance), digits(head.held_micro), digits(open) }
end
