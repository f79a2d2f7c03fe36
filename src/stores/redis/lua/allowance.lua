-- What test keys use for nothing (a plan's `test_allowance`), in the open account: the team's field `allowance` (team.lua). It is
-- read when the first operation asks for it, so that other teams pay for a comparison. A reservation of the allowance has a state of
-- its own (layout.lua), whatever the plan is when it is resolved.
--@ uses shared: call
--@ uses layout: IS_OF_ALLOWANCE, IS_TAGGED
--@ uses team: teams
--@ uses state: team_key, team_names, allowance_field, number, rare, key_beside, rarely, left_period
--@ gives allowance

local allowance = {}

do
  -- `used`, `held` and `told` in the current period.
  function allowance.open()
    if not (rare and rare.allowance) then
      rarely('allowance')
      local packed = allowance_field
      if packed == nil then
        packed = call('HGET', team_key, 'allowance')
      end
      rare.allowance = teams.read_allowance(packed, number)
    end
    return rare.allowance
  end

  -- Whether the team is known to have used nothing of an allowance. Asked by each refusal for the quota: so that a team that is
  -- refused again and again costs no command for it, its next account reads the field with its others.
  function allowance.is_none()
    team_names.reads_allowance = true
    return allowance_field == false and not (rare and rare.allowance)
  end

  function allowance.is_test(key_id)
    local known = rarely('tests')
    if known[key_id] == nil then
      known[key_id] = teams.is_test(call('HGET', key_beside('keys'), key_id))
    end
    return known[key_id]
  end

  function allowance.hold(characters)
    local open = allowance.open()
    open.held, open.changed = open.held + characters, true
  end

  -- Returns whether a reservation, by the first byte of its record, was of the allowance; what it held in the current period is
  -- held no longer.
  function allowance.release(state, characters, reserved_in)
    if state % IS_TAGGED < IS_OF_ALLOWANCE then
      return false
    end
    if reserved_in == number then
      allowance.hold(-characters)
    end
    return true
  end

  function allowance.charge(characters, reserved_in)
    if reserved_in == number then
      local open = allowance.open()
      open.used, open.changed = open.used + characters, true
    else
      local counts = left_period(reserved_in)
      counts.allowance = (counts.allowance or 0) + characters
    end
  end
end
