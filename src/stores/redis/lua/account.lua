-- The general way's view of a team: its record, places and ids, brought up to now and written back together.

local function write_team(account)
  local team, fields = account.team, {}
  for key, known in pairs(account.keys) do
    if known and known.changed then
      insert(fields, 'k' .. key)
      insert(fields, key_record(known, team.number))
    end
  end
  if team.changed then
    insert(fields, 'b')
    insert(fields, books_of(team))
  end
  call_in_pieces('HSET', team.key, fields)
  write_use(team)
end

-- Reads a team and brings it up to now. `wanted`: the ids that operations name. Returns nil and the question for the driver when
-- the bounds of a period are needed.
local function open_account(team, offer, now, wanted)
  if not follow_period(team, offer, now) then
    return nil
  end
  local places = open_places(team.key, team.plan[REQUESTS_PER_SECOND], now)
  return { team = team, now = now, places = places, ids = open_ids(places, team.key, now, team.number, wanted), keys = {} }
end

-- With `settles`, the first write needs no memory: a full server refuses only the first write of a script.
local function write_account(account, settles)
  if settles then
    call('HDEL', account.ids.key, '')
  end
  write_ids(account.ids, account.places)
  write_team(account)
end
