-- The limits of keys, in the open account. A key whose state is GUARDED or more has its limits in the team's field `l:<key>`, and the
-- counters for them in `w:<key>` (layout.lua). For any other key neither is read. The account's are in `rare.guards`, by key:
-- false for a key that was looked up and has none.
--@ uses constants: RATE_WINDOW_MS, KEY_LIMITS, KEY_COUNTS, KEY_COUNTS_BYTES, KEY_SLOT, KEY_SLOT_BYTES
--@ uses shared: call, floor, max, insert, unpack, sub, byte, pack, parse
--@ uses layout: GUARDED, SCOPE, lists_of
--@ uses plan: read_windows
--@ uses outbox: events
--@ uses state: now, team_key, number, keys, held, rare, rarely
--@ gives guarding

local guarding = {}

do
  -- Answers.
  local KEY_DISABLED, KEY_EXPIRED, ADDRESS_WANTED, ADDRESS_REFUSED = 'd', 'e', 'w', 'i'
  local SCOPE_WANTED, SCOPE_MISSING = 's', 'f'

  -- A key's window: an entry per millisecond with the number of slots taken, oldest first. `low` is the time of the newest in
  -- the entries' scale, which is not the clock's: if the clock goes back, only the head has to be changed.
  local LOW = 65536

  local function read(id, limits, counts)
    local guard = { field = 'w:' .. id, ranges = '', scopes = '', changed = false }
    guard.disabled, guard.expires, guard.rate, guard.characters = 0, 0, 0, 0
    if limits then
      if byte(limits) >= 2 then
        guard.windows, limits = read_windows(limits)
      end
      guard.disabled, guard.expires, guard.rate, guard.characters = parse(KEY_LIMITS, limits)
      guard.disabled = guard.disabled % 2
      guard.scopes, guard.ranges = lists_of(limits)
    end
    guard.held_in, guard.held, guard.newest, guard.low, guard.total, guard.slots = number, 0, 0, 0, 0, ''
    if counts then
      guard.held_in, guard.held, guard.newest, guard.low, guard.total = parse(KEY_COUNTS, counts)
      guard.slots = sub(counts, KEY_COUNTS_BYTES + 1)
    end
    if guard.held_in ~= number then
      guard.held_in, guard.held = number, 0
    end
    return guard
  end

  -- Must be called after the current period is known.
  function guarding.open(ids)
    local fields, guards, each = {}, rarely('guards'), events.rules and 3 or 2
    for _, id in ipairs(ids) do
      insert(fields, 'l:' .. id)
      insert(fields, 'w:' .. id)
      if events.rules then
        insert(fields, 'n:' .. id)
      end
    end
    local stored = call('HMGET', team_key, unpack(fields))
    for i, id in ipairs(ids) do
      local at = each * (i - 1)
      guards[id] = read(id, stored[at + 1], stored[at + 2])
      guards[id].told = events.rules and stored[at + 3]
    end
  end

  -- The ids of an idle team expire all at once, with what the team holds but not this: a key never holds more than its team.
  function guarding.fit()
    for _, guard in pairs(rare.guards) do
      if guard and guard.held > held then
        guard.held, guard.changed = held, true
      end
    end
  end

  -- Releases what a reservation of the current period held.
  function guarding.release(id, characters)
    local guard = rare.guards[id]
    if guard and guard.characters > 0 then
      guard.held, guard.changed = max(0, guard.held - characters), true
    end
  end

  -- The same for an expired lease, of any key.
  function guarding.expire(id, characters)
    local guards = rarely('guards')
    if keys[id] == nil and guards[id] == nil then
      local state = call('HGET', team_key, 'k' .. id)
      if state and byte(state) >= GUARDED then
        guarding.open({ id })
      else
        guards[id] = false
      end
    end
    guarding.release(id, characters)
  end

  -- Ranges: `>BB` prefix length and number of bytes, then the bytes; all bits after the prefix are 0.
  local function is_allowed(ranges, address)
    local at = 1
    while at <= #ranges do
      local bits, length = byte(ranges, at, at + 1)
      at = at + 2
      if length == #address then
        local whole = floor(bits / 8)
        local rest = 2 ^ (8 - bits % 8)
        if sub(ranges, at, at + whole - 1) == sub(address, 1, whole)
          and (whole == length or floor(byte(address, whole + 1) / rest) == floor(byte(ranges, at + whole) / rest)) then
          return true
        end
      end
      at = at + length
    end
    return false
  end

  -- Each scope is preceded by bytes that no text contains.
  local function has_scope(scopes, scope)
    return string.find(scopes, string.char(SCOPE, #scope) .. scope, 1, true) ~= nil
  end

  -- Reasons to reject the key before any rate is checked. `from`: what the request carried of its address and of the scope that it
  -- needs; nil for nothing.
  function guarding.refusal(guard, from)
    local address, scope = from and from.address, from and from.scope
    if guard.disabled == 1 then
      return KEY_DISABLED
    elseif guard.expires > 0 and now >= guard.expires then
      return KEY_EXPIRED
    elseif guard.ranges ~= '' and not address then
      return ADDRESS_WANTED
    elseif guard.ranges ~= '' and not is_allowed(guard.ranges, address) then
      return ADDRESS_REFUSED
    elseif guard.scopes == '' then
      return nil
    elseif not scope then
      return SCOPE_WANTED
    end
    return not has_scope(guard.scopes, scope) and SCOPE_MISSING or nil
  end

  -- How long before the newest the slots of an entry were taken.
  local function age(guard, low)
    return (guard.low - low) % LOW
  end

  -- Milliseconds until the key's window has a free slot, 0 if it has one. Expired entries are only dropped when a slot is
  -- taken.
  function guarding.wait(guard)
    if guard.newest > now and guard.total > 0 then
      guard.newest, guard.changed = now, true
    end
    local over, at = guard.total - guard.rate, 1
    while over >= 0 do
      local low, count = parse(KEY_SLOT, guard.slots, at)
      over, at = over - count, at + KEY_SLOT_BYTES
      if over < 0 then
        return max(0, guard.newest - age(guard, low) + RATE_WINDOW_MS - now)
      end
    end
    return 0
  end

  local function drop_ended(guard)
    local at = 1
    while at <= #guard.slots do
      local low, count = parse(KEY_SLOT, guard.slots, at)
      if now - guard.newest + age(guard, low) < RATE_WINDOW_MS then
        break
      end
      guard.total, at = guard.total - count, at + KEY_SLOT_BYTES
    end
    if at > 1 then
      guard.slots = sub(guard.slots, at)
    end
  end

  -- Must be called after `wait`.
  function guarding.take_slot(guard)
    drop_ended(guard)
    local taken_now = 1
    if guard.total == 0 then
      guard.newest, guard.low = now, 0
    elseif guard.newest == now then
      taken_now = select(2, parse(KEY_SLOT, guard.slots, #guard.slots - KEY_SLOT_BYTES + 1)) + 1
      guard.slots = sub(guard.slots, 1, -KEY_SLOT_BYTES - 1)
    else
      guard.low, guard.newest = (guard.low + now - guard.newest) % LOW, now
    end
    guard.slots = guard.slots .. pack(KEY_SLOT, guard.low, taken_now)
    guard.total, guard.changed = guard.total + 1, true
  end

  -- Whether these characters exceed the key's own limit; the key's counts may be of an earlier period.
  function guarding.is_used_up(guard, key, characters)
    local used_by_key = key.number == number and key.characters or 0
    return guard.characters > 0 and used_by_key + guard.held + characters > guard.characters
  end

  function guarding.hold(guard, characters)
    if guard.characters > 0 then
      guard.held, guard.changed = guard.held + characters, true
    end
  end

  -- Appends the changed counters to the team's fields, of which there are `count`. Returns the new number.
  function guarding.write(fields, count)
    for _, guard in pairs(rare.guards) do
      if guard and guard.changed then
        fields[count + 1] = guard.field
        fields[count + 2] = pack(KEY_COUNTS, guard.held_in, guard.held, guard.newest, guard.low, guard.total) .. guard.slots
        count = count + 2
      end
    end
    return count
  end
end
