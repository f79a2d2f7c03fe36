-- A call of the ledger. A team's operations have the same results as if they had been called one after the other, at the same
-- time. KEYS: each team's `:team`; its other keys are in the same cluster slot, and each of them is read, or is the first to be
-- written, before anything has changed. ARGV: the call. Returns the time (`>d`), then each operation's answer, in order.
--@ uses constants: CORRECTED, DONE_BYTES
--@ uses library: functions, timed
--@ uses shared: call, min, sub, pack, server_ms, digits, is_late
--@ changes shared: now_past
--@ uses outbox: events
--@ uses call: ADMISSION, op_what, op_id, answers, firsts, op_count, read_call, KEY_UNKNOWN, COMMITTED, ABSENT
--@ uses state: now, used, balance, held, held_micro, ids_key, slots_key, records, single, single_record
--@ changes state: running, left_over
--@ uses allowance: allowance
--@ uses account: begin, open_account, open_alone, write_account, KEEPS_EVENTS
--@ uses admit: admit
--@ uses resolve: resolve
--@ uses team: teams

local LATE = 'T'

-- Marks the team's first charge, so that the driver lists its events for the sender.
function events.note(first, last)
  events.kept = false
  for i = first, last do
    if answers[i] == COMMITTED then
      answers[i] = 'K'
      return
    end
  end
end

-- Answers if the account cannot be opened: `undone` has the parameters of its next period, nil if there is no team.
local function answer_unopened(first, last, undone)
  local asked
  if undone then
    local anchor, length = teams.following(undone)
    asked = 'P' .. pack('>dBc0', anchor, #length, length)
  end
  left_over = true
  for i = first, last do
    if undone then
      answers[i] = asked
    else
      answers[i] = op_what[i] >= ADMISSION and KEY_UNKNOWN or ABSENT
    end
  end
end

local function run_teams(from, offers)
  for k = from, #KEYS do
    running = k
    local first, last = firsts[k], firsts[k + 1] - 1
    local opened, undone = open_account(KEYS[k], first, last, offers[k])
    if opened then
      for i = first, last do
        local what, id, record = op_what[i], op_id[i], single_record
        if not single then
          record = records[id]
        end
        if what >= ADMISSION then
          answers[i] = admit(i, what, id, record)
        else
          answers[i] = resolve(i, what, id, record)
        end
      end
      write_account(first, last)
      if KEEPS_EVENTS and events.kept then
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

function functions.ledger()
  local clock, deadline, offers = read_call(ARGV[1] or error('argument 1 is missing'))
  now_past = 1
  begin(clock >= 0 and clock or server_ms() + (clock < -1 and CORRECTED - clock or 0))
  if is_late(now, deadline) then
    return pack('>d', now) .. string.rep(LATE, op_count)
  end
  local from = 1
  events.kept = false
  repeat
    -- If a team fails, nothing of it has changed, and other teams are not affected.
    local done, reason = pcall(run_teams, from, offers)
    if not done then
      for i = firsts[running], firsts[running + 1] - 1 do
        answers[i] = failed(reason)
      end
      from, left_over, events.kept = running + 1, true, false
    end
  until done
  running = nil
  return pack('>d', now) .. table.concat(answers, '', 1, op_count)
end

-- A team's current usage and what its open reservations hold. KEYS: team. ARGV: the head (clock, deadline, offer).
function timed.standing(at_ms)
  local undone = open_alone(at_ms)
  if undone then
    return undone
  end
  -- A list of the wrong type fails here, before anything is written.
  call('LLEN', slots_key)
  write_account(1, 0)
  local open, fields = 0, call('HGETALL', ids_key)
  for i = 1, #fields, 2 do
    -- Fields with one-letter names are not request ids.
    if #fields[i] > 1 and #fields[i + 1] > DONE_BYTES then
      open = open + 1
    end
  end
  local own = allowance.open()
  return {
    now, 'standing', digits(used), digits(held), digits(own.used), digits(own.held), digits(balance), digits(held_micro), digits(open),
  }
end
