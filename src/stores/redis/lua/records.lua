-- The head and the records of ids in the general way: from bytes to tables and back.

local function new_head(number)
  return {
    held = 0, held_micro = 0, number = number, newest = 0, late = 0, expires = 0, current = 0, previous = 0, length = 0, passed = 0,
    oldest = NEVER, shortest = LONGEST,
  }
end

local function read_head(packed)
  local head = {}
  head.held, head.held_micro, head.number, head.newest, head.late, head.expires, head.current, head.previous, head.length,
    head.passed, head.oldest, head.shortest = parse(HEAD, packed)
  return head
end

local function pack_head(head)
  return pack(
    HEAD, head.held, head.held_micro, head.number, head.newest, head.late, head.expires, head.current, head.previous, head.length,
    head.passed, head.oldest, head.shortest
  )
end

local function read_record(record)
  if not record then
    return false
  elseif byte(record) ~= IS_OPEN then
    local kind, until_ms = parse(DONE, record)
    return { kind = kind, until_ms = until_ms }
  end
  local kind, characters, micro, number, lease, at = parse(OPEN, record)
  return { kind = kind, characters = characters, micro = micro, number = number, lease = lease, key = sub(record, at) }
end

local function pack_record(x)
  if x.kind == IS_OPEN then
    return pack(OPEN, IS_OPEN, x.characters, x.micro, x.number, x.lease) .. x.key
  end
  return pack(DONE, x.kind, x.until_ms)
end

local function read_records(ids, wanted)
  local unread = {}
  for _, id in ipairs(wanted) do
    if ids.records[id] == nil then
      insert(unread, id)
      ids.records[id] = false
    end
  end
  for first = 1, #unread, PIECE do
    local last = min(first + PIECE - 1, #unread)
    for i, record in ipairs(call('HMGET', ids.key, unpack(unread, first, last))) do
      ids.records[unread[first + i - 1]] = read_record(record)
    end
  end
end
