-- The ledger's operations of one turn of a gateway's event loop. To each team they are as if they had been called one after
-- the other, at one moment.
-- KEYS: each team's `:team`; its other keys lie beside it in the same slot, and each of them is read, or is the first to be
-- written, before anything has changed. ARGV: the call. Answers the time (`>d`), then what each operation is told, in order.

local general

local function in_general(...)
  general = general or make_general()
  return general(...)
end

local function by_best_way(team_key, first, last, now, offer)
  local done = false
  if FAST and not (TOSS and TOSS()) then
    done = fast(team_key, first, last, now)
  end
  return done or in_general(team_key, first, last, now, offer)
end

-- A full server refuses what needs memory, and settles all the same: the resolutions among the operations, by themselves.
local function settle_alone(team_key, first, last, now, offer)
  local count = #op_what
  local next_one = count
  for i = first, last do
    if op_what[i] < ADMISSION then
      next_one = next_one + 1
      op_what[next_one], op_id[next_one], op_place[next_one] = op_what[i], op_id[i], i
    end
  end
  if next_one > count then
    local done, reason = pcall(in_general, team_key, count + 1, next_one, now, offer, true)
    if not done then
      answer_all(count + 1, next_one, failed(reason))
    end
  end
end

local function ledger()
  local clock, deadline, firsts, offers = read_call(ARGV[1] or error('argument 1 is missing'))
  local now = clock < 0 and server_ms() or clock
  local refused = {}
  if now > deadline then
    answer_all(1, firsts[#firsts] - 1, PLACELESS.late)
    return pack('>d', now) .. table.concat(answers)
  end
  for k = 1, #KEYS do
    local first, last = firsts[k], firsts[k + 1] - 1
    -- What fails has changed nothing, and is nothing to the other teams.
    local done, reason = pcall(by_best_way, KEYS[k], first, last, now, offers[k])
    if not done then
      answer_all(first, last, failed(reason))
      insert(refused, k)
    end
  end
  -- Behind all admissions: once a script has written, the server refuses it nothing more, and it shall not admit when it is full.
  for _, k in ipairs(refused) do
    settle_alone(KEYS[k], firsts[k], firsts[k + 1] - 1, now, offers[k])
  end
  return pack('>d', now) .. table.concat(answers)
end
