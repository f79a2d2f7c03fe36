-- What operations change of a team's ids in the general way: in memory, until all checks are done.

local function set_record(ids, id, record)
  ids.records[id], ids.changed[id], ids.dirty = record, true, true
end

local function remember(ids, id, kind, until_ms)
  set_record(ids, id, { kind = kind, until_ms = until_ms })
end

-- Notes when the id has to be looked at again; false for never.
local function look_later(ids, id, at_ms)
  ids.look[id], ids.dirty = at_ms, true
end

local function open_reservation(ids, id, record)
  local head = ids.head
  set_record(ids, id, record)
  head.held, head.held_micro = head.held + record.characters, head.held_micro + record.micro
  local lease = record.lease - ids.now
  if lease <= LOOK_MS then
    look_later(ids, id, record.lease)
  else
    ids.shortest = min(ids.shortest, lease)
  end
  ids.needed = max(ids.needed, lease)
end

local function close_reservation(ids, record)
  local head = ids.head
  head.held_micro = head.held_micro - record.micro
  if record.number == head.number then
    head.held = head.held - record.characters
  end
end
