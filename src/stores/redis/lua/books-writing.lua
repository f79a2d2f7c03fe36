-- How the books are written back, in an order in which nothing is left half done.

-- What is to become of the records: those that are new, and those that go.
local function record_changes(books)
  local fields, due_added, dropped, closed, done = {}, {}, {}, {}, {}
  for _, id in ipairs(books.touched) do
    local r, stored = books.reservations[id], books.stored[id]
    -- An id whose lease has ended may have been admitted anew.
    if not done[id] and r and r ~= stored then
      append(fields, { 'r:' .. id, table.concat({ digits(r.characters), digits(r.micro), r.number, digits(r.lease), r.key }, ' ') })
      append(due_added, { digits(r.lease), id })
    elseif not done[id] and stored and not r then
      insert(dropped, 'r:' .. id)
      insert(closed, id)
    end
    done[id] = true
  end
  return fields, due_added, dropped, closed
end

local function write_counters(books, fields, dropped)
  for name in pairs(books.changed) do
    local value = books.counters[name]
    if value == 0 then
      insert(dropped, name)
    else
      append(fields, { name, digits(value) })
    end
  end
end

local function is_time(last, now, every_ms)
  return not last or now - last >= every_ms or now < last
end

-- All that is to be written, put together beforehand.
local function plan_books(books)
  local fields, due_added, dropped, closed = record_changes(books)
  local plan = { fields = fields, due_added = due_added, dropped = dropped, closed = closed }
  write_counters(books, fields, dropped)
  if books.due_from_changed and (books.refreshed or #fields > 0) then
    append(fields, { 'due_from', digits(books.due_from) })
  end
  if #fields + #dropped + #books.seen_added == 0 then
    return plan
  end
  plan.purged = is_time(books.purged, books.now, PURGE_MS)
  if plan.purged then
    append(fields, { 'purged', digits(books.now) })
  end
  -- One of the keys may be new.
  plan.renewed = is_time(books.refreshed, books.now, REFRESH_MS)
  if plan.renewed then
    append(due_added, { '+inf', KEEPER })
    append(books.seen_added, { '+inf', KEEPER })
    append(fields, { 'refreshed', digits(books.now) })
  end
  return plan
end

-- To be written before all else: `due` alone may not have been read, and one of a wrong type has to fail while nothing is
-- written. With `settles`, what comes first needs no memory: only a script's first write is refused by a full server.
local function write_due(books, settles)
  books.plan = plan_books(books)
  if settles and #books.plan.closed == 0 then
    call('ZREM', books.due, '')
  end
  call_in_pieces('ZADD', books.due, settles and {} or books.plan.due_added)
  call_in_pieces('ZREM', books.due, books.plan.closed)
  call_in_pieces('ZADD', books.due, settles and books.plan.due_added or {})
end

local function write_books(books)
  local plan = books.plan
  if plan.purged then
    call('ZREMRANGEBYSCORE', books.seen, '-inf', digits(books.now * 4 + 3))
  end
  call_in_pieces('HDEL', books.open, plan.dropped)
  call_in_pieces('HSET', books.open, plan.fields)
  call_in_pieces('ZADD', books.seen, books.seen_added)
  if plan.renewed then
    call('PEXPIRE', books.open, BOOKS_TTL_MS)
    call('PEXPIRE', books.due, BOOKS_TTL_MS)
    call('PEXPIRE', books.seen, BOOKS_TTL_MS)
  end
end
