-- A call of the ledger. The operations of a team have the same results as if they had been called one after the other, all at one
-- moment.
-- KEYS: each team's `:team`; its other keys are in the same slot, and each of them is read, or is the first to be written, before
-- anything has changed. ARGV: the call. Returns the time (`>d`), then each operation's answer, in order.

-- Says with the first charge that there is something to list for the sender.
function events.note(first, last)
  for i = first, last do
    if answers[i] == COMMITTED then
      answers[i] = 'K'
      return
    end
  end
end

local function run_team(key, first, last, offer)
  local opened, undone = open_account(key, first, last, offer)
  for i = first, last do
    local admits = op_what[i] >= ADMISSION
    if opened then
      answers[i] = admits and admit(i) or not admits and resolve(i)
    elseif undone then
      answers[i] = 'P' .. pack('>dBc0', undone.anchor, #undone.length, undone.length)
    else
      answers[i] = admits and KEY_UNKNOWN or ABSENT
    end
  end
  if opened then
    events.kept = false
    write_account()
    if events.kept then
      events.note(first, last)
    end
  end
end

local function failed(reason)
  local message = type(reason) == 'table' and reason.err or tostring(reason)
  return 'F' .. pack('>Bc0', min(255, #message), sub(message, 1, 255))
end

local function ledger()
  local clock, deadline, firsts, offers = read_call(ARGV[1] or error('argument 1 is missing'))
  begin(clock < 0 and server_ms() or clock)
  if now > deadline then
    return pack('>d', now) .. string.rep(LATE, op_count)
  end
  for k = 1, #KEYS do
    -- A team's part that fails has changed nothing, and does not affect other teams.
    local done, reason = pcall(run_team, KEYS[k], firsts[k], firsts[k + 1] - 1, offers[k])
    if not done then
      for i = firsts[k], firsts[k + 1] - 1 do
        answers[i] = failed(reason)
      end
    end
  end
  return pack('>d', now) .. table.concat(answers, '', 1, op_count)
end
