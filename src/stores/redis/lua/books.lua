-- A team's open reservations and the ids it remembers, brought up to now in memory; written back when all checks are done.
-- Any number of operations may work on the same books between their opening and their writing.
-- open: hash of `r:<id>` = "<characters> <micro> <period number> <lease until> <key>", of the counters `held:<period number>`
--       and `micro` (absent when 0), of `refreshed` and `purged`, the times at which that was last done, and of `due_from`:
--       no lease ends before it.   due: ids of open reservations by the end of their lease.
-- seen: ids that stand finally, by 4 * <remembered until> + how they stand.

local STANDS = { committed = 0, released = 1, expired = 2 }
local STANDS_NAMES = { [0] = 'committed', [1] = 'released', [2] = 'expired' }

-- Much longer than the longest lease and remembrance; renewed at most every REFRESH_MS.
local BOOKS_TTL_MS = 1800000
local REFRESH_MS = 600000
-- Ids whose time is over count no more; that they lie there for so long costs a few bytes.
local PURGE_MS = 1000
-- Later than any lease.
local NEVER = 9007199254740991
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
    books.stands[id] = stands
    insert(books.seen_added, digits(until_ms * 4 + STANDS[stands]))
    insert(books.seen_added, id)
  end
end

local function put_reservation(books, id, reservation)
  books.reservations[id] = reservation
  insert(books.touched, id)
end

local function add_reservation(books, id, reservation)
  put_reservation(books, id, reservation)
  if reservation.lease < books.due_from then
    books.due_from = reservation.lease
    books.due_from_changed = true
  end
  count(books, 'held:' .. reservation.number, reservation.characters)
  if reservation.micro > 0 then
    count(books, 'micro', reservation.micro)
  end
end

local function close_reservation(books, id, reservation)
  put_reservation(books, id, nil)
  count(books, 'held:' .. reservation.number, -reservation.characters)
  if reservation.micro > 0 then
    count(books, 'micro', -reservation.micro)
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
      local id = ids[i]
      -- One without a record cannot be, but must not block the team for ever if someone deleted the record by hand.
      books.stored[id] = true
      if record then
        local reservation = parse_reservation(record)
        close_reservation(books, id, reservation)
        remember(books, id, 'expired', reservation.lease + REMEMBER_MS)
      else
        put_reservation(books, id, nil)
      end
    end
  end
end

-- Ends what has to end, and notes when that is to be looked at next.
local function sweep(books)
  local ended = call('ZRANGEBYSCORE', books.due, '-inf', digits(books.now))
  books.ended = #ended
  if #ended > 0 then
    end_leases(books, ended)
  end
  local next_due = call('ZRANGEBYSCORE', books.due, '(' .. digits(books.now), '(+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  books.due_from = tonumber(next_due[2] or nil) or NEVER
  books.due_from_changed = true
end

-- `ids` are the operations' own. With `swept` leases are looked at even when none can have ended.
local function open_books(keys, now, ids, number, swept)
  local held = 'held:' .. number
  local names = { 'micro', held, 'refreshed', 'purged', 'due_from' }
  local fixed = #names
  for i, id in ipairs(ids) do
    names[i + fixed] = 'r:' .. id
  end
  local got = call('HMGET', keys.open, unpack(names))
  local books = {
    open = keys.open, due = keys.due, seen = keys.seen, now = now, refreshed = tonumber(got[3] or nil),
    purged = tonumber(got[4] or nil), due_from = tonumber(got[5] or nil), ended = 0,
    counters = { micro = tonumber(got[1] or 0), [held] = tonumber(got[2] or 0) }, changed = {},
    -- By id: what is open, how it stands finally, what Redis has a record of. `touched` lists ids whose record may change.
    reservations = {}, stands = {}, stored = {}, touched = {}, seen_added = {},
  }
  for i, score in ipairs(call('ZMSCORE', keys.seen, unpack(ids))) do
    local id, record = ids[i], got[i + fixed]
    score = tonumber(score or nil)
    if score and floor(score / 4) > now then
      books.stands[id] = STANDS_NAMES[score % 4]
    end
    if record then
      books.reservations[id] = parse_reservation(record)
      books.stored[id] = books.reservations[id]
    end
  end
  if swept or not books.due_from or now >= books.due_from then
    sweep(books)
  end
  return books
end
