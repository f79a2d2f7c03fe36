-- A team's open reservations and the ids it remembers, brought up to now in memory; written back when all checks are done.
-- open: hash of `r:<id>` = "<characters> <micro> <period number> <lease until> <key>", of the counters `held:<period number>`
--       and `micro` (absent when 0), and `refreshed`.   due: ids of open reservations by the end of their lease.
-- seen: ids that stand finally, by 4 * <remembered until> + how they stand.

local STANDS = { committed = 0, released = 1, expired = 2 }
local STANDS_NAMES = { [0] = 'committed', [1] = 'released', [2] = 'expired' }

-- Much longer than the longest lease and remembrance; renewed at most every REFRESH_MS.
local BOOKS_TTL_MS = 1800000
local REFRESH_MS = 600000
-- Keeps the sorted sets, and with them their time to live, from vanishing when their last id leaves.
local KEEPER = '-'

local function parse_reservation(record)
  local characters, micro, number, lease, key = string.match(record, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  if not key then
    error('a reservation record is malformed')
  end
  return { characters = tonumber(characters), micro = tonumber(micro), number = number, lease = tonumber(lease), key = key }
end

local function counter(books, name)
  local value = books.counters[name]
  if not value then
    value = tonumber(call('HGET', books.open, name) or 0)
    books.counters[name] = value
  end
  return value
end

local function count(books, name, difference)
  books.counters[name] = counter(books, name) + difference
  books.changed[name] = true
end

local function remember(books, id, stands, until_ms)
  if until_ms > books.now then
    insert(books.seen_added, digits(until_ms * 4 + STANDS[stands]))
    insert(books.seen_added, id)
  end
end

local function close_reservation(books, id, reservation)
  count(books, 'held:' .. reservation.number, -reservation.characters)
  if reservation.micro > 0 then
    count(books, 'micro', -reservation.micro)
  end
  insert(books.closed, id)
  insert(books.dropped, 'r:' .. id)
end

local function end_lease(books, id, reservation)
  close_reservation(books, id, reservation)
  remember(books, id, 'expired', reservation.lease + REMEMBER_MS)
  if id == books.id then
    books.reservation = nil
    books.stands = reservation.lease + REMEMBER_MS > books.now and 'expired' or nil
  end
end

local function end_leases(books, ended)
  for first = 1, #ended, PIECE do
    local names, ids = {}, {}
    for i = first, math.min(first + PIECE - 1, #ended) do
      insert(ids, ended[i])
      insert(names, 'r:' .. ended[i])
    end
    for i, record in ipairs(call('HMGET', books.open, unpack(names))) do
      if record then
        end_lease(books, ids[i], parse_reservation(record))
      else
        -- Cannot be, but must not block the team for ever if someone deleted the record by hand.
        insert(books.closed, ids[i])
      end
    end
  end
end

-- Reads all three keys, so that one of a wrong type fails before anything is written. `id` is the operation's own, or ''.
local function open_books(keys, now, id, number)
  local held = 'held:' .. number
  local got = call('HMGET', keys.open, 'r:' .. id, 'micro', held, 'refreshed')
  local books = {
    open = keys.open, due = keys.due, seen = keys.seen, now = now, id = id,
    reservation = got[1] and parse_reservation(got[1]) or nil,
    refreshed = tonumber(got[4] or nil),
    counters = { micro = tonumber(got[2] or 0), [held] = tonumber(got[3] or 0) },
    changed = {}, fields = {}, dropped = {}, closed = {}, due_added = {}, seen_added = {},
  }
  local score = tonumber(call('ZSCORE', keys.seen, id) or nil)
  if score and floor(score / 4) > now then
    books.stands = STANDS_NAMES[score % 4]
  end
  local ended = call('ZRANGEBYSCORE', keys.due, '-inf', digits(now))
  if #ended > 0 then
    end_leases(books, ended)
  end
  return books
end

local function add_reservation(books, id, reservation)
  local r = reservation
  insert(books.fields, 'r:' .. id)
  insert(books.fields, table.concat({ digits(r.characters), digits(r.micro), r.number, digits(r.lease), r.key }, ' '))
  count(books, 'held:' .. r.number, r.characters)
  if r.micro > 0 then
    count(books, 'micro', r.micro)
  end
  insert(books.due_added, digits(r.lease))
  insert(books.due_added, id)
end

-- True when the keys need their time to live set; one of them may be new.
local function renew(books)
  if #books.fields + #books.seen_added == 0 then
    return false
  end
  local age = books.refreshed and books.now - books.refreshed or REFRESH_MS
  if age >= 0 and age < REFRESH_MS then
    return false
  end
  for _, list in ipairs({ books.due_added, books.seen_added }) do
    insert(list, '+inf')
    insert(list, KEEPER)
  end
  insert(books.fields, 'refreshed')
  insert(books.fields, digits(books.now))
  return true
end

local function write_counters(books)
  for name in pairs(books.changed) do
    local value = books.counters[name]
    if value == 0 then
      insert(books.dropped, name)
    else
      insert(books.fields, name)
      insert(books.fields, digits(value))
    end
  end
end

-- Forgets first: that needs no memory, and a script's first write is the only one that a full server refuses.
local function write_books(books)
  call('ZREMRANGEBYSCORE', books.seen, '-inf', digits(books.now * 4 + 3))
  local renewed = renew(books)
  write_counters(books)
  call_in_pieces('ZREM', books.due, books.closed)
  call_in_pieces('HDEL', books.open, books.dropped)
  call_in_pieces('HSET', books.open, books.fields)
  call_in_pieces('ZADD', books.due, books.due_added)
  call_in_pieces('ZADD', books.seen, books.seen_added)
  if renewed then
    call('PEXPIRE', books.open, BOOKS_TTL_MS)
    call('PEXPIRE', books.due, BOOKS_TTL_MS)
    call('PEXPIRE', books.seen, BOOKS_TTL_MS)
  end
end
