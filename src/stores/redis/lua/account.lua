-- A team as the ledger's operations see it: read once, worked on in memory by any number of them, written once.

local ACCOUNT_FIELDS = { 'created', 'period', 'period_number', 'period_start', 'period_end', 'balance' }
local PLAN_FIELDS = {
  'billing', 'requestsPerSecond', 'maxCharactersPerRequest', 'characterLimit', 'overageCharacters', 'overageCapMinor',
  'minorPerMillion', 'currency', 'window_newest', 'window_refreshed',
}

-- What admissions alone look at: the plan, the window's times, and the status and last use of their keys.
local function read_plan(account, got, first, keys)
  account.credit, account.rate, account.request_max = got[first] == 'credit', tonumber(got[first + 1]), tonumber(got[first + 2])
  account.included, account.overage, account.cap = tonumber(got[first + 3]), tonumber(got[first + 4]), tonumber(got[first + 5])
  account.price, account.currency = tonumber(got[first + 6]), got[first + 7]
  account.newest, account.refreshed = tonumber(got[first + 8] or nil), tonumber(got[first + 9] or nil)
  local next_field = first + #PLAN_FIELDS
  for i, key in ipairs(keys) do
    account.status[key] = got[next_field + 2 * i - 2]
    account.last_use[key] = tonumber(got[next_field + 2 * i - 1] or nil)
  end
end

-- `admissions` is how many of the operations are. nil when there is no such team.
local function read_account_of(team_keys, operations, admissions)
  local names, keys, seen = { unpack(ACCOUNT_FIELDS) }, {}, {}
  if admissions > 0 then
    append(names, PLAN_FIELDS)
    for _, x in ipairs(operations) do
      if x.admit and not seen[x.key] then
        seen[x.key] = true
        insert(keys, x.key)
        append(names, { 'k:' .. x.key, 'u:' .. x.key })
      end
    end
  end
  local got = call('HMGET', team_keys.team, unpack(names))
  if not got[1] then
    return nil
  end
  local account = {
    keys = team_keys, admissions = admissions, created = tonumber(got[1]), length = got[2], number = got[3],
    starts = tonumber(got[4]), ends = tonumber(got[5]), balance = tonumber(got[6]),
    status = {}, last_use = {}, used = {}, use = {}, use_changed = {}, pairs = {},
  }
  if admissions > 0 then
    read_plan(account, got, #ACCOUNT_FIELDS + 1, keys)
  end
  return account
end

-- Counts of a period, by name; read when they are first asked for.
local function counts_of(account, number, names)
  local counts = account.use[number]
  if not counts then
    counts = {}
    account.use[number] = counts
  end
  local unread = {}
  for _, name in ipairs(names) do
    if not counts[name] then
      insert(unread, name)
    end
  end
  if #unread > 0 then
    for i, value in ipairs(call('HMGET', use_key(account.keys.team, number), unpack(unread))) do
      counts[unread[i]] = tonumber(value or 0)
    end
  end
  return counts
end

local function charge(account, reservation)
  local number, characters, requests = reservation.number, reservation.key .. ':c', reservation.key .. ':r'
  local counts = counts_of(account, number, { 'characters', characters, requests })
  local changed = account.use_changed[number] or {}
  account.use_changed[number] = changed
  for name, by in pairs({ characters = reservation.characters, [characters] = reservation.characters, [requests] = 1 }) do
    counts[name] = counts[name] + by
    changed[name] = true
  end
  if reservation.micro > 0 then
    account.balance = math.max(0, account.balance - reservation.micro)
    account.charged = true
  end
end

local function use_now(account, key)
  account.last_use[key] = math.max(account.last_use[key] or account.now, account.now)
  account.used[key] = true
end

local function window_of(account)
  if not account.window then
    account.window =
      open_window(account.keys.window, account.rate, account.newest, account.refreshed, account.now, account.admissions)
  end
  return account.window
end

local function write_team(account)
  local fields = {}
  for key in pairs(account.used) do
    append(fields, { 'u:' .. key, digits(account.last_use[key]) })
  end
  if account.window then
    window_fields(account.window, fields)
  end
  if account.charged then
    append(fields, { 'balance', digits(account.balance) })
  end
  period_fields(account, fields)
  if #fields > 0 then
    call('HSET', account.keys.team, unpack(fields))
  end
  leave_period(account.keys.team, account)
end

local function write_counts(account)
  for number, changed in pairs(account.use_changed) do
    local key, fields = use_key(account.keys.team, number), {}
    for name in pairs(changed) do
      append(fields, { name, digits(account.use[number][name]) })
    end
    call('HSET', key, unpack(fields))
    -- A charge that comes after its period was left may have made the key anew.
    if number ~= account.number then
      call('PEXPIRE', key, USE_KEPT_MS)
    end
  end
end

-- Of all writes a full server refuses only the first, and then nothing has changed. With admissions among the operations it
-- is one that needs memory; without, one that needs none, so what is open can still be settled.
local function write_account(account)
  write_due(account.books, account.admissions == 0)
  write_team(account)
  write_books(account.books)
  if account.window then
    write_window(account.window)
  end
  write_counts(account)
end
