-- The resolution of an id: each has one terminal state (ports/ledger.ts).
-- KEYS: team, open, due, seen. ARGV: the head (clock, deadline, offer), then request, verdict.

-- What a commit writes, read and computed beforehand.
local function price_charge(team_key, team, reservation)
  local key = use_key(team_key, reservation.number)
  local characters, requests = reservation.key .. ':c', reservation.key .. ':r'
  local counts = call('HMGET', key, 'characters', characters, requests)
  return {
    key = key,
    fields = {
      'characters', digits((counts[1] or 0) + reservation.characters),
      characters, digits((counts[2] or 0) + reservation.characters),
      requests, digits((counts[3] or 0) + 1),
    },
    balance = math.max(0, team.balance - reservation.micro),
    ended = reservation.number ~= team.number,
  }
end

local function write_charge(charge, fields)
  call('HSET', charge.key, unpack(charge.fields))
  -- A charge that comes after its period was left may have made the key anew.
  if charge.ended then
    call('PEXPIRE', charge.key, USE_KEPT_MS)
  end
  insert(fields, 'balance')
  insert(fields, digits(charge.balance))
end

local function resolve(k, a)
  local now, late = read_clock(a)
  local x = { team = key_at(k + 1), open = key_at(k + 2), due = key_at(k + 3), seen = key_at(k + 4) }
  local offer, id, commit = read_offer(a), text_at(a + 7), text_at(a + 8) == 'commit'
  if late then
    return { now, 'late' }
  end
  local team = read_account(x.team)
  if not team then
    return { now, 'absent' }
  end
  if not follow_period(team, offer, now) then
    return ask_for_bounds(now, team.created, team.length)
  end
  local books = open_books(x, now, id, team.number)
  local stands = books.stands
  local charge
  if books.reservation then
    stands = commit and 'committed' or 'released'
    charge = commit and price_charge(x.team, team, books.reservation)
    close_reservation(books, id, books.reservation)
    remember(books, id, stands, now + REMEMBER_MS)
  elseif not stands and not commit then
    stands = 'released'
    remember(books, id, stands, now + REMEMBER_MS)
  end
  local fields = {}
  -- The books come first here: what they write first needs no memory, so a full server can still settle what is open.
  write_books(books)
  if charge then
    write_charge(charge, fields)
  end
  period_fields(team, fields)
  if #fields > 0 then
    call('HSET', x.team, unpack(fields))
  end
  leave_period(x.team, team)
  return { now, stands or 'absent' }
end
