-- A call of the ledger. A team's operations have the same results as if they had been called one after the other, at the same
-- time. KEYS: each team's `:team`; its other keys are in the same cluster slot, and each of them is read, or is the first to be
-- written, before anything has changed. ARGV: the call. Returns the time (`>d`), then each operation's answer, in order.

local ledger

do
  -- Marks the team's first charge, so that the driver lists its events for the sender.
  function events.note(first, last)
    for i = first, last do
      if answers[i] == COMMITTED then
        answers[i] = 'K'
        return
      end
    end
  end

  -- Answers if the account cannot be opened: `undone` has the parameters of its next period, nil if there is no team.
  local function answer_unopened(first, last, undone)
    for i = first, last do
      if undone then
        answers[i] = 'P' .. pack('>dBc0', undone.anchor, #undone.length, undone.length)
      else
        answers[i] = op_what[i] >= ADMISSION and KEY_UNKNOWN or ABSENT
      end
    end
  end

  -- The index of the team being processed, in case it fails.
  local running

  local function run_teams(from, firsts, offers)
    for k = from, #KEYS do
      running = k
      local first, last = firsts[k], firsts[k + 1] - 1
      local opened, undone = open_account(KEYS[k], first, last, offers[k])
      if opened then
        for i = first, last do
          answers[i] = op_what[i] >= ADMISSION and admit(i) or resolve(i)
        end
        events.kept = false
        write_account(first, last)
        if events.kept then
          events.note(first, last)
        end
      else
        answer_unopened(first, last, undone)
      end
    end
  end

  local function failed(reason)
    local message = type(reason) == 'table' and reason.err or tostring(reason)
    return 'F' .. pack('>Bc0', min(255, #message), sub(message, 1, 255))
  end

  function ledger()
    local clock, deadline, firsts, offers = read_call(ARGV[1] or error('argument 1 is missing'))
    begin(clock < 0 and server_ms() or clock)
    if now > deadline then
      return pack('>d', now) .. string.rep(LATE, op_count)
    end
    local from = 1
    repeat
      -- If a team fails, nothing of it has changed, and other teams are not affected.
      local done, reason = pcall(run_teams, from, firsts, offers)
      if not done then
        for i = firsts[running], firsts[running + 1] - 1 do
          answers[i] = failed(reason)
        end
        from = running + 1
      end
    until done
    return pack('>d', now) .. table.concat(answers, '', 1, op_count)
  end
end
