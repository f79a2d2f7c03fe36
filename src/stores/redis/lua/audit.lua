-- The audit of a team, `:audit`: a sorted set whose members all have score 0, so that they are ordered by id. A member: the id,
-- `>I4c0` with what the driver knows of the change as JSON, then the team's records before and after it, if only this function
-- knows them.
--@ uses shared: call, unpack, text_at, number_at
--@ uses layout: beside
--@ uses team: teams
--@ gives open_audit, keep_audit

local ID_BYTES = 31
-- How many old entries are deleted with each new one.
local OLD_AT_ONCE = 64
local moment = teams.moment

-- Arguments from `first` on: the entry's id, or only its serial number if the list of all entries was unavailable, or '' for no
-- entry; what the driver knows; how long entries are kept. Must be called before anything is written, because it reads the old
-- entries.
local function open_audit(team_key, first, now)
  local audit = { id = text_at(first), record = text_at(first + 1), kept = number_at(first + 2), key = beside(team_key, 'audit') }
  if audit.id == '' then
    return audit
  end
  if #audit.id < ID_BYTES then
    audit.id = moment(now) .. audit.id
  end
  audit.old = call('ZRANGEBYLEX', audit.key, '-', '(' .. moment(now - audit.kept), 'LIMIT', 0, OLD_AT_ONCE)
  return audit
end

-- `before` is NONE for something new; both are omitted if the driver knows everything.
local function keep_audit(audit, before, after)
  if audit.id == '' then
    return
  end
  call('ZADD', audit.key, 0, teams.audit_entry(audit.id, audit.record, before, after))
  if #audit.old > 0 then
    call('ZREM', audit.key, unpack(audit.old))
  end
end
