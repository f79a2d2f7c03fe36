-- Events that are still to be told (ports/outbox.ts): in `:outbox`, a hash of the team, kept by the function that makes them true. The
-- driver lists them for the sender afterwards. Each is its time (`>d`), its kind, and values that the driver reads, as texts.
-- `events.rules`, which the loader puts in front, is nil where none are kept: `percents`, and of `credit` each threshold with the
-- least balance above it. `kept`: one has been kept since this was set to false.

do
  local function text_of(value)
    return value and pack('>I4c0', #value, value) or pack('>I4', 0)
  end

  -- Texts one behind the other, each behind its length.
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

  -- Read before anything is written, so that a key of a wrong type fails then.
  function events.look(key)
    if events.rules then
      call('HLEN', beside(key, 'outbox'))
    end
  end

  -- `count` is needed where values may be missing.
  function events.keep(key, id, at_ms, kind, values, count)
    if events.rules then
      call('HSET', beside(key, 'outbox'), id, pack('>d', at_ms) .. text_of(kind) .. events.texts(values, count))
      events.kept = true
    end
  end

  -- Whether a balance has fallen to a threshold on its way, and of what it is to be told then.
  function events.credit_reached(before, after)
    for _, rule in ipairs(events.rules and events.rules.credit or NONE) do
      if before >= rule[2] and after < rule[2] then
        return true
      end
    end
    return false
  end

  function events.tell_credit(key, at_ms, before, after, currency)
    for _, rule in ipairs(events.rules and events.rules.credit or NONE) do
      if before >= rule[2] and after < rule[2] then
        local id = events.team_of(key) .. '-credit-' .. rule[1] .. '-' .. digits(at_ms)
        events.keep(key, id, at_ms, 'credit', { rule[1], digits(after), currency })
      end
    end
  end

  -- Percents of a plan's characters that have been reached, of those above the one that was told last.
  function events.percents_reached(numbers, told, characters)
    local reached, limit = NONE, numbers[CHARACTER_LIMIT]
    if numbers[BILLING] == 1 or limit == 0 then
      return reached
    end
    for _, percent in ipairs(events.rules.percents) do
      if percent > told and characters >= math.ceil(percent * limit / 100) then
        reached = reached == NONE and {} or reached
        insert(reached, percent)
      end
    end
    return reached
  end

  function events.quota_id(key, starts_ms, percent)
    return events.team_of(key) .. '-quota-' .. digits(starts_ms) .. '-' .. digits(percent)
  end

  -- What was told in the period of this number: the highest percent.
  function events.told_in(packed, of)
    if packed then
      local told_of, percent = parse('>dd', packed)
      return told_of == of and percent or 0
    end
    return 0
  end
end
