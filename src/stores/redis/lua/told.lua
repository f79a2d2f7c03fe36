-- The first refusal for a limit, which is reported as an event: once in a period for the team's quota and for each key's own
-- limit and for the allowance of test keys, once for credit since some was added, and once in each window of a team, a key or a tag. What
-- was reported of the team is in the field `t` (outbox.lua), of a key in `n:<key>`: the period's number and start; of the allowance
-- in `allowance` (team.lua), of a window with its counts (windows.lua), of a tag with what is used of it. Without rules for events nothing is looked at.
--@ uses shared: call, insert, pack, parse, digits
--@ uses outbox: events
--@ uses state: now, team_key, number, starts, rare, key_beside, rarely
--@ uses windows: windows
do
  local CREDIT, QUOTA = 'credit_exhausted', 'quota_exceeded'
  -- Precedes the answer of a refusal that is reported, so that the driver lists the team's events for the sender.
  local REPORTED = 'Y'
  local PERIOD = '>dd'

  local function is_first_of_key(key_id)
    local told = rare.guards[key_id].told
    if not told then
      return true
    end
    local told_in, began = parse(PERIOD, told)
    return told_in ~= number or began ~= starts
  end

  -- In place of an id of a team or key: a tag may have dots, which delimit the signed content.
  local function id_of_tag(name)
    return events.team_of(team_key) .. '-tag-' .. redis.sha1hex(name)
  end

  -- Marks the refusal as reported; keys of the wrong type fail here, before anything is written.
  local function report(for_credit, key_id, own, required, tag)
    local of, before = key_id or events.team_of(team_key), nil
    events.look(team_key)
    call('HLEN', key_beside('keys'))
    if key_id then
      rarely('reported')[key_id] = true
      rare.guards[key_id].told = pack(PERIOD, number, starts)
    elseif tag then
      tag.told, tag.changed, of = 1, true, id_of_tag(tag.name)
      rarely('reported')
    elseif own then
      own.told, own.changed, of = true, true, of .. '-tests'
    else
      events.percents, before = events.with_refusal(events.percents, number, for_credit)
      rarely('reported').team = true
    end
    local id = of .. '-limit-' .. digits(starts) .. '-' .. digits(number)
    if for_credit then
      id = of .. '-limit-credit-' .. digits(before + 1)
    end
    insert(rarely('refusals'), { id, for_credit and CREDIT or QUOTA, digits(required), key_id or '', own and 'test_keys' or '', tag and tag.name or '' })
  end

  -- Returns the answer; cheap for all but the first, because a flood asks each time. `required`: the characters, or for credit the
  -- micro, that the request needed. `key_id`: the key whose own limit refused it; `own`: the allowance, if that did; `tag`: the tag, if its did.
  function events.refused(answer, required, for_credit, key_id, own, tag)
    if not events.rules then
      return answer
    elseif key_id then
      if not is_first_of_key(key_id) then
        return answer
      end
    elseif tag then
      if tag.told == 1 then
        return answer
      end
    elseif own then
      if own.told then
        return answer
      end
    elseif events.is_told(events.percents, number, for_credit) then
      return answer
    end
    report(for_credit, key_id, own, required, tag)
    return REPORTED .. answer
  end

  local NAMES = { 'minute', 'hour', 'day', 'week', 'month' }

  -- The same for a refusal by a window. `what` it counts is `requests` or `characters`. `required`: the characters that the
  -- request would have reserved, nil if none. `key_id`: nil for a window of the team.
  function events.refused_by_window(answer, code, window, what, counts, required, key_id)
    local began = events.rules and windows.tell(counts, window)
    if not began then
      return answer
    end
    events.look(team_key)
    call('HLEN', key_beside('keys'))
    rarely('reported')
    local of = counts.tag and id_of_tag(counts.tag) or key_id or events.team_of(team_key)
    local id = of .. '-limit-' .. NAMES[window] .. '-' .. digits(began)
    local of_window = NAMES[window] .. ' ' .. what
    insert(rarely('refusals'), { id, code, required and digits(required) or '', key_id or '', of_window, counts.tag or '' })
    return REPORTED .. answer
  end

  -- Called when the account is written: the events include the team's usage as of now.
  function events.write_refusals()
    for name in pairs(rare.reported or {}) do
      if name == 'team' then
        call('HSET', team_key, 't', events.percents)
      else
        call('HSET', team_key, 'n:' .. name, rare.guards[name].told)
      end
    end
    local usage = { events.texts(call('HGETALL', team_key)), events.texts(call('HGETALL', key_beside('keys'))) }
    for _, one in ipairs(rare.refusals) do
      events.keep(team_key, one[1], now, 'refused', { one[2], one[3], one[4], usage[1], usage[2], one[5], one[6] })
    end
  end
end
