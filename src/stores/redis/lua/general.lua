-- Every case of a team's part of a call, those of the fast way included, with the same results.

local function general(team_key, first, last, now, offer, settles)
  local team = read_team(team_key)
  if not team then
    for i = first, last do
      answer(i, op_what[i] >= ADMISSION and KEY_UNKNOWN or ABSENT)
    end
    return
  end
  local account = open_account(team, offer or {}, now, { unpack(op_id, first, last) })
  if not account then
    answer_all(first, last, 'P' .. pack('>dBc0', team.anchor, #team.length, team.length))
    return
  end
  for i = first, last do
    answer(i, op_what[i] >= ADMISSION and admit(account, i) or op_what[i] < ADMISSION and resolve(account, i))
  end
  write_account(account, settles)
end

-- A full server refuses writes that need memory, but reservations have to be settled there, too: runs only the resolutions.
local function settle_alone(team_key, first, last, now, offer)
  local count = #op_what
  local next_one = count
  for i = first, last do
    if op_what[i] < ADMISSION then
      next_one = next_one + 1
      op_what[next_one], op_id[next_one], op_place[next_one] = op_what[i], op_id[i], i
    end
  end
  if next_one > count then
    local done, reason = pcall(general, team_key, count + 1, next_one, now, offer, true)
    if not done then
      answer_all(count + 1, next_one, failed(reason))
    end
  end
end

-- For a team's part of a call that has failed and changed nothing.
local function after_failure(reason, team_key, first, last, now, offer)
  answer_all(first, last, failed(reason))
  settle_alone(team_key, first, last, now, offer)
end
