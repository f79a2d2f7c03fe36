-- The resolution of an id: each has one terminal state (ports/ledger.ts).

-- Charges a reservation of an earlier period, whose counts have a hash of their own.
local function charge_late(team, record)
  local key = use_key(team.key, record.number)
  local counts = team.use[record.number] or {}
  team.use[record.number] = counts
  local by = { characters = record.characters, [record.key .. ':c'] = record.characters, [record.key .. ':r'] = 1 }
  for name, more in pairs(by) do
    counts[name] = (counts[name] or tonumber(call('HGET', key, name) or 0)) + more
  end
end

local function charge(account, record)
  local team, key = account.team, key_of(account, record.key)
  team.balance, team.changed = max(0, team.balance - record.micro), true
  if record.number ~= team.number then
    return charge_late(team, record)
  end
  team.used = team.used + record.characters
  -- A key's record is never deleted; without one the team is charged all the same.
  if key then
    key.characters, key.requests, key.changed = key.characters + record.characters, key.requests + 1, true
  end
end

local function resolve(account, i)
  local ids, id, commits = account.ids, op_id[i], op_what[i] == 1
  local record, until_ms = ids.records[id], account.now + REMEMBER_MS
  if record and record.kind == IS_OPEN then
    local kind = commits and IS_COMMITTED or IS_RELEASED
    close_reservation(ids, record)
    remember(ids, id, kind, until_ms)
    if commits then
      charge(account, record)
    end
    return RESOLVED[kind]
  end
  if record and record.until_ms > account.now then
    return RESOLVED[record.kind]
  end
  if commits then
    return ABSENT
  end
  remember(ids, id, IS_RELEASED, until_ms)
  look_later(ids, id, until_ms)
  return RESOLVED[IS_RELEASED]
end
