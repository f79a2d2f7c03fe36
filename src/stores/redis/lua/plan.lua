-- A team's plan: `on_credit`, its numbers by name (PLAN_NUMBERS), and `most_characters`, what may be
-- used in a period; `windows`, its limits by minute to month (nil for none). What an admission checks of them is in admit.lua.
--@ uses constants: PLAN_NUMBERS, PLAN, PLAN_BYTES, WINDOW_LIMIT, WINDOW_LIMIT_BYTES
--@ uses shared: min, pack, parse, sub, byte
--@ gives read_plan, read_windows

-- The limits by minute to month at the end of a field, by window: `requests` and `characters`, without end if there is no such
-- limit; false for a window without limits. `least_characters` is the lowest one of characters, `packed` their bytes after one with
-- how many these are. Also returns what is before them.
local function read_windows(packed)
  local none, limits = math.huge, { false, false, false, false, false }
  local first = #packed - byte(packed, -1) * WINDOW_LIMIT_BYTES
  limits.packed, limits.least_characters = pack('B', #packed - first + 1) .. sub(packed, first), none
  for at = first, #packed - 1, WINDOW_LIMIT_BYTES do
    local window, requests, characters = parse(WINDOW_LIMIT, packed, at)
    limits[window] = { requests = requests > 0 and requests or none, characters = characters > 0 and characters or none }
    limits.least_characters = min(limits.least_characters, limits[window].characters)
  end
  return limits, sub(packed, 1, first - 1)
end

-- Plans written before a number was introduced have 0 for it.
local function read_plan(packed)
  local list
  if byte(packed) >= 2 then
    list, packed = read_windows(packed)
  end
  if #packed < PLAN_BYTES then
    packed = packed .. string.rep('\0', PLAN_BYTES - #packed)
  end
  local values, plan = { parse(PLAN, packed) }, {}
  for i, name in ipairs(PLAN_NUMBERS) do
    plan[name] = values[i + 1]
  end
  plan.on_credit, plan.most_characters = values[1] % 2 == 1, plan.character_limit + plan.overage_characters
  plan.windows = list
  return plan
end
