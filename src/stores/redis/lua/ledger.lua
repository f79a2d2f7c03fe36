-- The ledger's operations of one turn of a gateway's event loop: any number of admissions and resolutions, of any number of
-- teams that share a slot. To each team they are as if they had been called one after the other, at one moment.
-- KEYS: per team its team, open, due, seen, window, pairs.
-- ARGV: clock and deadline; then per team an offer (4, separated by blanks, or ''), the number of its operations, and
-- these, each one text with blanks in it:
--   admission: 'admit' request key characters flags lease glossary pair
--   resolution: 'commit' or 'release', request
-- '-' stands for what there is none of. Flags: 'r' reserves, 's' tells how the rate stands.
-- Answers the time, and then one text per operation, in order: a word and what belongs to it.

local KEYS_PER_TEAM = 6

local function read_operation(text)
  local id, key, characters, flags, lease, glossary, pair = string.match(text, '^admit (%S+) (%S+) (%S+) (%S+) (%d+) (%S+) (%S+)$')
  if id then
    return {
      admit = true, id = id, key = key, characters = tonumber(characters), lease = tonumber(lease), pair = pair,
      reserve = string.find(flags, 'r', 1, true) ~= nil, rate = string.find(flags, 's', 1, true) ~= nil,
      glossary = glossary ~= '-' and glossary or nil,
    }
  end
  local verdict, of = string.match(text, '^(%l+) (%S+)$')
  if verdict ~= 'commit' and verdict ~= 'release' then
    error('there is no operation ' .. text)
  end
  return { id = of, commit = verdict == 'commit' }
end

local function read_offer_text(text)
  if text == '' then
    return {}
  end
  local starts, ends, length, created = string.match(text, '^(%d+) (%d+) (%S+) (%d+)$')
  return { starts = tonumber(starts), ends = tonumber(ends), length = length, created = tonumber(created) }
end

-- All of it before anything is done, so that a call that is cut short does nothing.
local function read_groups(a)
  local groups, k, place = {}, 0, 0
  repeat
    local group = {
      keys = {
        team = key_at(k + 1), open = key_at(k + 2), due = key_at(k + 3), seen = key_at(k + 4), window = key_at(k + 5),
        pairs = key_at(k + 6),
      },
      offer = read_offer_text(text_at(a + 1)), operations = {}, ids = {}, admissions = 0,
    }
    local count = number_at(a + 2)
    a = a + 2
    for i = 1, count do
      local x = read_operation(text_at(a + i))
      place = place + 1
      x.place = place
      group.admissions = group.admissions + (x.admit and 1 or 0)
      group.operations[i], group.ids[i] = x, x.id
    end
    insert(groups, group)
    k, a = k + KEYS_PER_TEAM, a + count
  until k >= #KEYS and a >= #ARGV
  return groups
end

local function answer_all(operations, answers, answer_of)
  for _, x in ipairs(operations) do
    answers[1 + x.place] = answer_of(x)
  end
end

local function work(group, now, operations, ids, admissions, answers)
  local account = read_account_of(group.keys, operations, admissions)
  if not account then
    return answer_all(operations, answers, function(x)
      return x.admit and 'key_unknown' or 'absent'
    end)
  end
  account.now = now
  if not follow_period(account, group.offer, now) then
    return answer_all(operations, answers, function()
      return 'period ' .. digits(account.created) .. ' ' .. account.length
    end)
  end
  account.books = open_books(group.keys, now, ids, account.number)
  answer_all(operations, answers, function(x)
    return (x.admit and admit or resolve)(account, x)
  end)
  write_account(account)
end

-- What fails has changed nothing: all is read and judged before anything is written, and only the first write may be refused.
local function try(group, now, operations, ids, admissions, answers)
  local done, reason = pcall(work, group, now, operations, ids, admissions, answers)
  if not done then
    local message = type(reason) == 'table' and reason.err or tostring(reason)
    answer_all(operations, answers, function()
      return 'failed ' .. message
    end)
  end
  return done
end

-- A full server refuses what needs memory, and settles all the same.
local function settle_alone(group, now, answers)
  local operations, ids = {}, {}
  for _, x in ipairs(group.operations) do
    if not x.admit then
      insert(operations, x)
      insert(ids, x.id)
    end
  end
  if #operations > 0 then
    try(group, now, operations, ids, 0, answers)
  end
end

local function ledger()
  local now, late = read_clock()
  local groups, answers = read_groups(2), { now }
  local rest = {}
  for _, group in ipairs(groups) do
    if late then
      answer_all(group.operations, answers, function()
        return 'late'
      end)
    elseif group.admissions == 0 or not try(group, now, group.operations, group.ids, group.admissions, answers) then
      insert(rest, group)
    end
  end
  -- Behind all admissions: once a script has written, the server refuses it nothing more, and it shall not admit when it is full.
  for _, group in ipairs(rest) do
    settle_alone(group, now, answers)
  end
  return answers
end
