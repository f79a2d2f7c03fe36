-- A team in the general way: its record, its places and its ids, brought up to now together and written back together.

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

-- `wanted` are the ids that operations speak of. Brought up to now; nil and the question when the bounds of a period are needed.
local function open_account(team, offer, now, wanted)
  if not follow_period(team, offer, now) then
    return nil
  end
  local places = open_places(team.key, team.plan[REQUESTS_PER_SECOND], now)
  return { team = team, now = now, places = places, ids = open_ids(places, team.key, now, team.number, wanted), keys = {} }
end

-- With `settles`, what comes first needs no memory: a full server refuses a script its first write only.
local function write_account(account, settles)
  if settles then
    call('HDEL', account.ids.key, '')
  end
  write_ids(account.ids, account.places)
  write_team(account)
end
