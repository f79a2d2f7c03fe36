-- A team's plan: `on_credit`, its numbers by name (PLAN_NUMBERS), and `most_characters`, what may be
-- used in a period; `windows`, its limits by minute to month (nil for none). What an admission checks of them is in admit.lua.
--@ uses constants: PLAN_NUMBERS, PLAN, PLAN_BYTES, WINDOW_LIMIT, WINDOW_LIMIT_BYTES
--@ uses shared: parse, sub, byte
--@ gives read_plan, read_windows

-- The list at the end of a field: { window, requests, characters } for each. Also returns what is before it.
local function read_windows(packed)
  local count, list = byte(packed, -1), {}
  local at = #packed - count * WINDOW_LIMIT_BYTES
  for i = 1, count do
    list[i] = {}
    list[i].window, list[i].requests, list[i].characters = parse(WINDOW_LIMIT, packed, at + (i - 1) * WINDOW_LIMIT_BYTES)
  end
  return list, sub(packed, 1, at - 1)
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
