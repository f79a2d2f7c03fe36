-- The open account: one team at a time, read once, brought up to date, changed by its operations and written once. It is kept
-- in local variables, because members of a table would make an admission cost half as much again.

local now, today
-- The team (layout.lua): its key, plan, and books.
local team_key, prefix, plan, number, starts, ends, used, balance, books_changed
-- By key: its state and counts, false if the team has no such key; and its days, if needed. `use`: counts of earlier periods to
-- write.
local keys, key_days, use = {}, nil, nil
-- The head, as its bytes and decoded (layout.lua); `held_in` is the period that `held` belongs to.
local head, held, held_micro, held_in, newest, late, expires, current, previous, length, passed, oldest, shortest
local head_changed
-- The stored record of each id, as bytes, false for none; `fields` up to `written` are to be written.
local ids_key, slots_key, records = nil, nil, {}
-- Whose entries `records` and `keys` still contain: 'operations', or 'others' as well; nil for none.
local left_over
local fields, written = { 'h' }, 0
-- `look_at`: by id, when to check it again, false for never; `dropped`: ids that are deleted. Both nil if empty.
local look_at, dropped
-- The longest lease of the reservations made in this call, and the shortest of those without an entry in `:late`.
local longest_lease, shortest_lease

-- Another key of the team.
local function key_beside(name)
  return prefix .. name
end

local function put_record(id, record)
  local at = written + 2
  fields[at - 1], fields[at], written = id, record, at
  records[id] = record
end

-- Records of resolved ids by state, shared by all teams of a call, because they expire at the same time.
local done_now

local function remember(id, kind)
  local record = done_now[kind]
  if not record then
    record = pack(DONE, kind, now + REMEMBER_MS)
    done_now[kind] = record
  end
  put_record(id, record)
end

local function forget_record(id)
  records[id], dropped = false, dropped or {}
  insert(dropped, id)
end

local function look_later(id, at_ms)
  look_at = look_at or {}
  look_at[id] = at_ms
end

-- Counts of an earlier period.
local function left_period(left)
  use = use or {}
  local counts = use[left]
  if not counts then
    local stored = call('HMGET', use_key(team_key, left), 'characters', 'open')
    counts = { characters = tonumber(stored[1] or nil), open = tonumber(stored[2] or nil) }
    use[left] = counts
  end
  return counts
end

local function close_reservation(characters, micro, reserved_in)
  held_micro = held_micro - micro
  -- Characters held in an earlier period do not count in this one; the earlier period closes when nothing is held in it.
  if reserved_in == number then
    held = held - characters
  else
    local counts = left_period(reserved_in)
    counts.open = counts.open and max(0, counts.open - characters)
  end
end
