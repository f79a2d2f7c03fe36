-- The account that is open: one team at a time, read once, brought up to now, changed by its operations and written once.
-- It lies in variables, not in a table: a table's members cost an admission half as much again.

local now, today
-- The team (layout.lua): its key, plan, and books.
local team_key, prefix, plan, number, starts, ends, used, balance, books_changed
-- By key: its state and counts, false where the team has none, and its days, where they are needed. `use`: counts of earlier
-- periods that are to be written.
local keys, key_days, use = {}, nil, nil
-- The head, as its bytes and in parts (layout.lua); `held_in` is the period that `held` belongs to.
local head, held, held_micro, held_in, newest, late, expires, current, previous, length, passed, oldest, shortest
local head_changed
-- What is stored of each id as bytes, false for nothing; and what is written: `fields` up to `written`.
local ids_key, places_key, records = nil, nil, {}
-- Whose entries `records` and `keys` still have: 'operations', or 'others' as well; nil for none.
local left_over
local fields, written = { 'h' }, 0
-- By id, when to look at it again, false for never; ids that are forgotten; both nil while there are none.
local look_at, dropped
-- Longest lease of the reservations made now, and the shortest of those that have no entry in `:late`.
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

-- Records of ids by their states, for all teams of a call: they are remembered equally long.
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

-- Counts of a period that was left.
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
  -- What was held in a period that was left no longer counts; the period closes when nothing is.
  if reserved_in == number then
    held = held - characters
  else
    local counts = left_period(reserved_in)
    counts.open = counts.open and max(0, counts.open - characters)
  end
end
