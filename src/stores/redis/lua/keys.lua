-- A team's keys. Their records are "<order> <created> <JSON>" in `keys`; what an admission needs is in the team's record as
-- `k<key>`. KEYS: team, keys. ARGV: the head (clock, deadline, offer), then the key, the arguments listed at each function, and
-- the audit arguments.
--@ uses constants: BOOKS, KEY, KEY_LIMITS, KEY_COUNTS, KEY_COUNTS_BYTES, OPEN, DONE_BYTES, HEAD
--@ uses constants: WINDOW_LIMIT_BYTES
--@ uses library: timed
--@ uses shared: call, insert, unpack, sub, byte, pack, parse, NONE, key_at, text_at, digits
--@ uses layout: ACTIVE, GUARDED, SCOPED, open_key, beside, lists_of
--@ uses outbox: events
--@ uses audit: open_audit, keep_audit

local REVOKED = 0
local UNLIMITED = pack(KEY_LIMITS, 0, 0, 0, 0)

-- The record, the state and the limits of a key, '' for none.
local function key_values(x)
  local stored = call('HMGET', x.team, x.field, x.limits)
  return { call('HGET', x.keys, x.id), stored[1], stored[2] or '' }
end

-- The state of a key that is not revoked.
local function active_word(is_guarded, limits)
  if not is_guarded then
    return ACTIVE
  end
  return lists_of(limits) ~= '' and SCOPED or GUARDED
end

local function describe_key(x, now)
  return { now, 'key', unpack(key_values(x)) }
end

local function read_key()
  local id = text_at(7)
  return { team = key_at(1), keys = key_at(2), id = id, field = 'k' .. id, limits = 'l:' .. id, counts = 'w:' .. id }
end

-- 8: the record's JSON; 9: the limits, '' for none. An existing key is returned unchanged.
function timed.create_key(now)
  local x, json, limits = read_key(), text_at(8), text_at(9)
  local audit = open_audit(x.team, 10, now)
  if call('HEXISTS', x.team, 'b') == 0 then
    return { now, 'none' }
  end
  if call('HEXISTS', x.keys, x.id) == 0 then
    local record = digits(call('HLEN', x.keys)) .. ' ' .. digits(now) .. ' ' .. json
    local state = pack(KEY, active_word(limits ~= '', limits), 0, 0, 0, 0, 0)
    events.look(x.team)
    call('HSET', x.keys, x.id, record)
    call('HSET', x.team, x.field, state, unpack(limits ~= '' and { x.limits, limits } or NONE))
    keep_audit(audit)
    events.keep(x.team, x.id .. '-created', now, 'key_created', { x.id, record, state, limits })
  end
  return describe_key(x, now)
end

function timed.revoke_key(now)
  local x = read_key()
  local audit = open_audit(x.team, 8, now)
  local record = call('HGET', x.team, x.field)
  if call('HEXISTS', x.keys, x.id) == 0 or not record or call('HEXISTS', x.team, 'b') == 0 then
    return { now, 'none' }
  end
  local active = byte(record) ~= REVOKED
  if active then
    events.look(x.team)
    call('HSET', x.team, x.field, pack('B', REVOKED) .. sub(record, 2))
    keep_audit(audit)
    events.keep(x.team, x.id .. '-revoked', now, 'key_revoked', { x.id, unpack(key_values(x)) })
  end
  local answer = describe_key(x, now)
  -- Whether this call revoked it.
  insert(answer, active and 1 or 0)
  return answer
end

-- Finds the label in a record's JSON: no escaped text in a label looks like the end of this.
local LABEL = '^(.-"label":)".-"(,"mode":".*)$'

-- The characters held by the key's open reservations in the team's period, including those made before it had a limit.
local function held_by(x)
  local number = parse(BOOKS, call('HGET', x.team, 'b'))
  local ids_key, sum = beside(x.team, 'ids'), 0
  local head = call('HGET', ids_key, 'h')
  local held, _, held_in = 0, 0, 0
  if head then
    held, _, held_in = parse(HEAD, head)
  end
  if held > 0 and held_in == number then
    local ids = call('HGETALL', ids_key)
    for i = 1, #ids, 2 do
      local record = ids[i + 1]
      -- Fields with one-letter names are not request ids.
      if #ids[i] > 1 and #record > DONE_BYTES and open_key(record) == x.id then
        local _, characters, _, reserved_in = parse(OPEN, record)
        sum = sum + (reserved_in == number and characters or 0)
      end
    end
  end
  return number, sum
end

-- A limit's new value from its argument: '' leaves it unchanged, 'none' removes it.
local function changed(text, number)
  return text == 'none' and 0 or tonumber(text) or number
end

-- Scopes, ranges and windows as bytes, which are not 'none': the first byte of a scope or a range is no letter, and a list of windows
-- is longer.
local function changed_bytes(text, bytes)
  return text == 'none' and '' or text ~= '' and text or bytes
end

-- The packed limits as { disabled, expiry, rate, characters, ranges, windows, scopes }: the last three as bytes, '' for none.
local function unpacked(packed)
  local disabled, expires, rate, characters = parse(KEY_LIMITS, packed)
  local windowed = disabled >= 2 and byte(packed, -1) * WINDOW_LIMIT_BYTES + 1 or 0
  local ends = #packed - windowed
  local scopes, ranges = lists_of(sub(packed, 1, ends))
  return { disabled % 2, expires, rate, characters, ranges, sub(packed, ends + 1), scopes }
end

local function packed(is)
  return pack(KEY_LIMITS, is[1] + (is[6] ~= '' and 2 or 0), is[2], is[3], is[4]) .. is[7] .. is[5] .. is[6]
end

-- The counters for the key's limits, as far as they are needed.
local function counts_of(x, rate, characters)
  local number, held = 0, 0
  if characters > 0 then
    number, held = held_by(x)
  end
  local counts = call('HGET', x.team, x.counts)
  local newest, low, total, slots = 0, 0, 0, ''
  if counts and rate > 0 then
    newest, low, total = select(3, parse(KEY_COUNTS, counts))
    slots = sub(counts, KEY_COUNTS_BYTES + 1)
  end
  return pack(KEY_COUNTS, number, held, newest, low, total) .. slots
end

-- `is` are the limits, unpacked.
local function write_limits(x, state, is)
  local limits, rate, characters = packed(is), is[3], is[4]
  local is_guarded = limits ~= UNLIMITED
  local word = byte(state) == REVOKED and REVOKED or active_word(is_guarded, limits)
  state = pack('B', word) .. sub(state, 2)
  if is_guarded then
    local counts = counts_of(x, rate, characters)
    call('HSET', x.team, x.field, state, x.limits, limits, x.counts, counts)
  else
    call('HSET', x.team, x.field, state)
    call('HDEL', x.team, x.limits, x.counts)
  end
end

-- 8: the label as JSON; 9: '1' to disable the key, '0' to enable it; 10 to 14: its expiry, requests per second, characters,
-- ranges, limits by minute to month; 15: scopes. '' leaves a value unchanged.
function timed.update_key(now)
  local x, label, disabled = read_key(), text_at(8), text_at(9)
  local numbers, ranges, windows, scopes = { text_at(10), text_at(11), text_at(12) }, text_at(13), text_at(14), text_at(15)
  local audit, before = open_audit(x.team, 16, now), key_values(x)
  if not before[1] or not before[2] or call('HEXISTS', x.team, 'b') == 0 then
    return { now, 'none' }
  end
  local was = before[3] ~= '' and before[3] or UNLIMITED
  local stored = unpacked(was)
  local is = { changed(disabled, stored[1]) }
  for i = 1, 3 do
    is[i + 1] = changed(numbers[i], stored[i + 1])
  end
  is[5], is[6], is[7] = changed_bytes(ranges, stored[5]), changed_bytes(windows, stored[6]), changed_bytes(scopes, stored[7])
  local limits_changed = packed(is) ~= was
  local from, behind = string.match(before[1], LABEL)
  local record = label ~= '' and from .. label .. behind or before[1]
  if not limits_changed and record == before[1] then
    return describe_key(x, now)
  end
  events.look(x.team)
  if limits_changed then
    write_limits(x, before[2], is)
  end
  call('HSET', x.keys, x.id, record)
  local after = key_values(x)
  keep_audit(audit, before, after)
  events.keep(x.team, events.change_id(x.team, x.id .. '-updated', now), now, 'key_updated', { x.id, unpack(after) })
  return { now, 'key', unpack(after) }
end
