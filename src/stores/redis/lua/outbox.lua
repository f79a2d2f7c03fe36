-- Events that have not been sent yet (ports/outbox.ts), in `:outbox`, a hash of the team; the function that makes the change
-- stores them, and the driver then lists them for the sender. An event is its time (`>d`), its kind, and values for the driver,
-- as texts. `rules`, nil if no events are stored: `percents`, and `credit` with each threshold and the lowest balance above it.
-- `kept`: whether an event was stored since this was last set to false.
--@ uses constants: EVENT_RULES
--@ uses shared: call, insert, byte, pack, parse, NONE, digits
--@ uses layout: beside
--@ gives events

local events = { kept = false, rules = EVENT_RULES }

do
  local function text_of(value)
    return value and pack('>I4c0', #value, value) or pack('>I4', 0)
  end

  -- Texts one after the other, each after its length.
  function events.texts(values, count)
    local parts = {}
    for i = 1, count or #values do
      parts[i] = text_of(values[i])
    end
    return table.concat(parts)
  end

  function events.team_of(key)
    return string.match(key, '{(.*)}')
  end

  -- Called before anything is written, so that a key of the wrong type fails early.
  function events.look(key)
    if events.rules then
      call('HLEN', beside(key, 'outbox'))
    end
  end

  -- `count` is required if values may be nil.
  function events.keep(key, id, at_ms, kind, values, count)
    if events.rules then
      call('HSET', beside(key, 'outbox'), id, pack('>d', at_ms) .. text_of(kind) .. events.texts(values, count))
      events.kept = true
    end
  end

  -- The id of a change (domain/event-rules.ts): `:team` counts those of the team, because several fall within a millisecond. Only
  -- counts if events are stored.
  function events.change_id(key, what, at_ms)
    return events.rules and what .. '-' .. digits(at_ms) .. '-' .. digits(call('HINCRBY', key, 'changes', 1))
  end

  -- Whether a balance has fallen to a threshold.
  function events.credit_reached(before, after)
    for _, rule in ipairs(events.rules and events.rules.credit or NONE) do
      if before >= rule[2] and after < rule[2] then
        return true
      end
    end
    return false
  end

  function events.report_credit(key, at_ms, before, after, currency)
    for _, rule in ipairs(events.rules and events.rules.credit or NONE) do
      if before >= rule[2] and after < rule[2] then
        local id = events.change_id(key, events.team_of(key) .. '-credit-' .. rule[1], at_ms)
        events.keep(key, id, at_ms, 'credit', { rule[1], digits(after), currency })
      end
    end
  end

  -- The percentages of a plan's characters that have been reached, above the last one reported.
  function events.percents_reached(plan, last_percent, characters)
    local reached, limit = NONE, plan.character_limit
    if plan.on_credit or limit == 0 then
      return reached
    end
    for _, percent in ipairs(events.rules.percents) do
      if percent > last_percent and characters >= math.ceil(percent * limit / 100) then
        reached = reached == NONE and {} or reached
        insert(reached, percent)
      end
    end
    return reached
  end

  function events.quota_id(key, starts_ms, number, percent)
    return events.team_of(key) .. '-quota-' .. digits(starts_ms) .. '-' .. digits(number) .. '-' .. digits(percent)
  end

  -- What has been reported, the team's field `t`: of the period `number` the highest percentage, and whether a refusal for its
  -- quota was; whether one for its credit was since credit was last added, and how many such refusals were altogether. Older
  -- versions store the first two numbers alone.
  local TOLD, TOLD_BYTES, FLAGS_AT, PERCENT = '>ddBI4', 21, 17, '>dd'
  local QUOTA, CREDIT = 1, 2

  local function read_told(packed, of)
    local told = { percent = 0, quota = false, credit = false, credits = 0 }
    if packed then
      local number, percent = parse(PERCENT, packed)
      local flags = 0
      if #packed == TOLD_BYTES then
        flags, told.credits = select(3, parse(TOLD, packed))
      end
      if number == of then
        told.percent, told.quota = percent, flags % CREDIT == QUOTA
      end
      told.credit = flags >= CREDIT
    end
    return told
  end

  local function pack_told(of, told)
    return pack(TOLD, of, told.percent, (told.quota and QUOTA or 0) + (told.credit and CREDIT or 0), told.credits)
  end

  -- The highest percentage reported in this period.
  function events.last_percent(packed, of)
    if packed then
      local number, percent = parse(PERCENT, packed)
      return number == of and percent or 0
    end
    return 0
  end

  function events.with_percent(packed, of, percent)
    local told = read_told(packed, of)
    told.percent = percent
    return pack_told(of, told)
  end

  -- Whether a refusal of the team, for its credit or else its quota, has been reported; cheap, because a flood asks each time.
  function events.is_told(packed, of, for_credit)
    local flags = packed and byte(packed, FLAGS_AT)
    if not flags then
      return false
    elseif for_credit then
      return flags >= CREDIT
    end
    return flags % CREDIT == QUOTA and parse('>d', packed) == of
  end

  -- The field with this refusal reported, and how many for credit were before.
  function events.with_refusal(packed, of, for_credit)
    local told = read_told(packed, of)
    local before = told.credits
    if for_credit then
      told.credit, told.credits = true, before + 1
    else
      told.quota = true
    end
    return pack_told(of, told), before
  end

  -- Credit was added: the next refusal for it is reported again.
  function events.rearm_credit(key, of)
    local packed = call('HGET', key, 't')
    if packed and events.is_told(packed, of, true) then
      local told = read_told(packed, of)
      told.credit = false
      call('HSET', key, 't', pack_told(of, told))
    end
  end
end
