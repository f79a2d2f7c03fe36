-- The deletion of a team (ports/team-registry.ts). From then on its record has the field `erasure` with one of the states
-- below, and neither plan nor books, without which the other functions treat the team as unknown. KEYS: team, keys.
-- ARGV: the head (clock, deadline, offer), then the arguments listed at each function.
--@ uses constants: RECORD_TABLES
--@ uses library: timed
--@ uses shared: call, max, insert, unpack, sub, byte, pack, parse, NONE, key_at, text_at, digits, call_in_pieces
--@ uses layout: beside
--@ uses outbox: events
--@ uses team: teams, closed_periods
--@ uses audit: open_audit, keep_audit

local ERASING, ERASING_BUT_USAGE, ONLY_USAGE_LEFT = '1', '2', '3'
-- How much one call deletes at most: half a millisecond of the server's time.
local ERASED_MAX = 250
-- The fields kept if usage is kept. The plan and the books are renamed.
local STAYS = { created = true, period = true, currency = true, plan = true, uses = true, erased_p = true, erased_b = true }

-- Turns the current usage into a period that ends now.
local function leave_last_period(team, now)
  teams.begin_period(team, { starts = max(now, team.starts), ends = now })
  for _, counts in pairs(team.use) do
    -- What is reserved in it is never charged.
    counts.open = 0
  end
  teams.write_use(team.key, team.use)
end

-- Deletes the record's fields except those of keys, of which there may be thousands.
local function strip(team_key, keeps)
  local gone = {}
  for _, name in ipairs(call('HKEYS', team_key)) do
    if byte(name) ~= 107 and not (keeps and STAYS[name]) then -- 'k'
      insert(gone, name)
    end
  end
  call_in_pieces('HDEL', team_key, gone)
end

-- Deletes events that contain a name or a label; if usage is not kept, all but the deletion itself.
local NAMELESS = { credit = true, period = true, day = true }

local function forget_events(team_key, keeps)
  local outbox, gone = beside(team_key, 'outbox'), {}
  local kept = call('HGETALL', outbox)
  for i = 1, #kept, 2 do
    local length, at = parse('>I4', kept[i + 1], 9)
    local kind = sub(kept[i + 1], at, at + length - 1)
    if kind ~= 'deleted' and not (keeps and NAMELESS[kind]) then
      insert(gone, kept[i])
    end
  end
  call_in_pieces('HDEL', outbox, gone)
end

-- 7: '1' to keep usage, otherwise ''; then the audit arguments. Answers 'erasing' as long as there is something to delete.
function timed.delete_team(now)
  local team_key, keeps = key_at(1), text_at(7) == '1'
  local audit, team = open_audit(team_key, 8, now), teams.read(team_key)
  local state, uses = call('HGET', team_key, 'erasure'), call('HGET', team_key, 'uses')
  if not team and (not state or keeps and state == ONLY_USAGE_LEFT) then
    return { now, 'none' }
  elseif not team and (keeps or state == ERASING) then
    return { now, 'erasing' }
  end
  if team and keeps then
    leave_last_period(team, now)
    team.balance = 0
    call('HSET', team_key, 'erased_p', call('HGET', team_key, 'p'), 'erased_b', teams.books(team))
  end
  strip(team_key, keeps)
  call('HSET', team_key, 'uses', team and digits(team.number) or uses, 'erasure', keeps and ERASING_BUT_USAGE or ERASING)
  call('UNLINK', beside(team_key, 'ids'), beside(team_key, 'places'), beside(team_key, 'late'))
  -- Nothing can write records without the books, so none come after these.
  for _, name in ipairs(RECORD_TABLES) do
    call('UNLINK', beside(team_key, name))
  end
  forget_events(team_key, keeps)
  if team then
    events.keep(team_key, events.team_of(team_key) .. '-deleted', now, 'deleted', NONE)
  end
  keep_audit(audit)
  return { now, 'erasing' }
end

-- 7: ids of keys. Deletes their displays and labels if usage is kept.
function timed.erase_keys(now)
  local team_key, keys_key = key_at(1), key_at(2)
  for i = 7, #ARGV do
    local record, state = call('HGET', keys_key, ARGV[i]), call('HGET', team_key, 'k' .. ARGV[i])
    if record then
      local mode = string.match(record, '"mode":"(%a+)"')
      call('HSET', keys_key, ARGV[i], string.match(record, '^%d+ %d+ ') .. '{"display":"","label":"","mode":"' .. mode .. '"}')
    end
    if state then
      call('HSET', team_key, 'k' .. ARGV[i], pack('B', 0) .. sub(state, 2))
    end
  end
  return { now, 'done' }
end

-- Deletes some blobs of its records; returns whether there were any.
local function erase_blobs(team_key)
  local blobs_key, ids = beside(team_key, 'blobs'), {}
  local held = call('HSCAN', blobs_key, 0, 'COUNT', ERASED_MAX)[2]
  for i = 1, #held, 2 do
    insert(ids, held[i])
    call('UNLINK', beside(team_key, 'blob:' .. held[i]))
  end
  call_in_pieces('HDEL', blobs_key, ids)
  return #ids > 0
end

-- Deletes some remembered changes, by their ids.
local function erase_changes(team_key)
  local changes, gone = beside(team_key, 'changes'), {}
  local ids = call('ZRANGE', changes, 0, ERASED_MAX - 1)
  for i, id in ipairs(ids) do
    gone[i] = beside(team_key, 'once:' .. id)
  end
  if #gone > 0 then
    call('UNLINK', unpack(gone))
    call('ZREM', changes, unpack(ids))
  end
  return #gone > 0
end

-- Deletes some ended periods; `uses` is the highest number that may exist. Closes them if usage is kept.
local function erase_periods(team_key, keeps, now)
  local last, gone, of_keys = tonumber(call('HGET', team_key, 'uses') or '0'), {}, nil
  for number = max(1, last - ERASED_MAX + 1), last do
    local key = teams.use_key(team_key, number)
    local counts = keeps and closed_periods.named(call('HGETALL', key)) or NONE
    if counts.starts and closed_periods.is_kept(counts) then
      of_keys = of_keys or closed_periods.counts_of_keys(team_key)
      closed_periods.keep(team_key, number, closed_periods.record(counts, of_keys[number]), now)
    end
    insert(gone, key)
  end
  if #gone > 0 then
    call('UNLINK', unpack(gone))
    call('HSET', team_key, 'uses', digits(last - #gone))
  end
  return #gone > 0
end

-- Called when no index refers to the team any more. Answers 'more' until it is complete.
function timed.erase_some(now)
  local team_key, keys_key = key_at(1), key_at(2)
  if call('HEXISTS', team_key, 'b') == 1 then
    return { now, 'alive' }
  end
  local state = call('HGET', team_key, 'erasure')
  local keeps = state == ERASING_BUT_USAGE or state == ONLY_USAGE_LEFT
  if erase_blobs(team_key) or erase_changes(team_key) or erase_periods(team_key, keeps, now) then
    return { now, 'more' }
  end
  call('UNLINK', beside(team_key, 'changes'))
  if keeps then
    call('HSET', team_key, 'erasure', ONLY_USAGE_LEFT)
  else
    call('UNLINK', team_key, keys_key, beside(team_key, 'days'), beside(team_key, 'periods'))
  end
  return { now, 'erased' }
end
