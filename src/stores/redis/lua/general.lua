-- Everything that can become of a team's part of a call: the same as the fast way where that gets through, and all the rest.

local function general(team_key, first, last, now, offer, settles)
  local team = read_team(team_key)
  if not team then
    for i = first, last do
      answer(i, op_what[i] >= ADMISSION and PLACELESS.key_unknown or ABSENT)
    end
    return true
  end
  local account = open_account(team, offer or {}, now, { unpack(op_id, first, last) })
  if not account then
    answer_all(first, last, 'P' .. pack('>dBc0', team.created, #team.length, team.length))
    return true
  end
  for i = first, last do
    answer(i, op_what[i] >= ADMISSION and admit(account, i) or op_what[i] < ADMISSION and resolve(account, i))
  end
  write_account(account, settles)
  return true
end
