-- The resolution of an id: each has one terminal state (ports/ledger.ts).

local function resolve(account, x)
  local books, until_ms = account.books, account.now + REMEMBER_MS
  local reservation, stands = books.reservations[x.id], books.stands[x.id]
  if reservation then
    stands = x.commit and 'committed' or 'released'
    close_reservation(books, x.id, reservation)
    remember(books, x.id, stands, until_ms)
    if x.commit then
      charge(account, reservation)
    end
  elseif not stands and not x.commit then
    stands = 'released'
    remember(books, x.id, stands, until_ms)
  end
  return stands or 'absent'
end
