-- A team's current usage and what its open reservations hold.
-- KEYS: team. ARGV: the head (clock, deadline, offer).

local function standing()
  local at_ms, is_late = read_clock()
  local key, offer = key_at(1), read_offer()
  if is_late then
    return { at_ms, 'late' }
  end
  begin(at_ms)
  local opened, undone = open_account(key, 1, 0, offer)
  if undone then
    return ask_for_bounds(now, undone.anchor, undone.length)
  elseif not opened then
    return { now, 'none' }
  end
  -- A list of the wrong type fails here, before anything is written.
  call('LLEN', slots_key)
  write_account(1, 0)
  local open, fields = 0, call('HGETALL', ids_key)
  for i = 1, #fields, 2 do
    -- Fields with one-letter names are not request ids.
    if #fields[i] > 1 and byte(fields[i + 1]) == IS_OPEN then
      open = open + 1
    end
  end
  return { now, 'standing', digits(used), digits(held), digits(balance), digits(held_micro), digits(open) }
end
