-- The first refusal for a limit, which is reported as an event: once in a period for the team's quota and for each key's own
-- limit, and once for credit since some was added. What was reported of the team is in the field `t` (outbox.lua), of a key in
-- `n:<key>`: the period's number and start. Without rules for events nothing is looked at.
do
  local CREDIT, QUOTA = 'credit_exhausted', 'quota_exceeded'
  -- Precedes the answer of a refusal that is reported, so that the driver lists the team's events for the sender.
  local REPORTED = 'Y'
  local PERIOD = '>dd'

  local function is_first(for_credit, key_id)
    if not key_id then
      return not events.is_told(events.percents, number, for_credit)
    end
    local reported = rare and rare.reported
    return not (reported and reported[key_id]) and call('HGET', team_key, 'n:' .. key_id) ~= pack(PERIOD, number, starts)
  end

  -- Marks the refusal as reported; keys of the wrong type fail here, before anything is written.
  local function report(for_credit, key_id, required)
    local of, before = key_id or events.team_of(team_key), nil
    events.look(team_key)
    call('HLEN', key_beside('keys'))
    if key_id then
      rarely('reported')[key_id] = true
    else
      events.percents, before = events.with_refusal(events.percents, number, for_credit)
      rarely('reported').team = true
    end
    local id = of .. '-limit-' .. digits(starts) .. '-' .. digits(number)
    if for_credit then
      id = of .. '-limit-credit-' .. digits(before + 1)
    end
    insert(rarely('refusals'), { id, for_credit and CREDIT or QUOTA, digits(required), key_id or '' })
  end

  -- `required`: the characters, or for credit the micro, that the request needed. `key_id`: the key whose own limit refused it.
  local function refused(answer, required, for_credit, key_id)
    if is_first(for_credit, key_id) then
      report(for_credit, key_id, required)
      return REPORTED .. answer
    end
    return answer
  end

  function events.refused(answer, required, for_credit, key_id)
    return answer
  end

  if events.rules then
    events.refused = refused
  end

  -- Called when the account is written: the events include the team's usage as of now.
  function events.write_refusals()
    for name in pairs(rare.reported) do
      if name == 'team' then
        call('HSET', team_key, 't', events.percents)
      else
        call('HSET', team_key, 'n:' .. name, pack(PERIOD, number, starts))
      end
    end
    local usage = { events.texts(call('HGETALL', team_key)), events.texts(call('HGETALL', key_beside('keys'))) }
    for _, one in ipairs(rare.refusals) do
      events.keep(team_key, one[1], now, 'refused', { one[2], one[3], one[4], usage[1], usage[2] })
    end
  end
end
