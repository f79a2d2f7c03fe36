-- A call of the ledger. The operations of a team have the same results as if they had been called one after the other, all at one
-- moment.
-- KEYS: each team's `:team`; its other keys are in the same slot, and each of them is read, or is the first to be written, before
-- anything has changed. ARGV: the call. Returns the time (`>d`), then each operation's answer, in order.

local general, after_failure

local function make_seldom()
  if not general then
    general, after_failure = make_general()
  end
end

local function by_best_way(team_key, first, last, now, offer)
  local done = false
  if FAST and not (TOSS and TOSS()) then
    done = fast(team_key, first, last, now)
  end
  if not done then
    make_seldom()
    general(team_key, first, last, now, offer)
  end
end

local function ledger()
  local clock, deadline, firsts, offers = read_call(ARGV[1] or error('argument 1 is missing'))
  local now = clock < 0 and server_ms() or clock
  if now > deadline then
    return pack('>d', now) .. string.rep(LATE, firsts[#firsts] - 1)
  end
  local failures
  for k = 1, #KEYS do
    -- A team's part that fails has changed nothing, and does not affect other teams.
    local done, reason = pcall(by_best_way, KEYS[k], firsts[k], firsts[k + 1] - 1, now, offers[k])
    if not done then
      failures = failures or {}
      insert(failures, { k = k, reason = reason })
    end
  end
  if failures then
    make_seldom()
    -- After all admissions: a full server refuses only a script's first write, so after these writes it would let admissions through.
    for _, failure in ipairs(failures) do
      local k = failure.k
      after_failure(failure.reason, KEYS[k], firsts[k], firsts[k + 1] - 1, now, offers[k])
    end
  end
  return pack('>d', now) .. table.concat(answers)
end
