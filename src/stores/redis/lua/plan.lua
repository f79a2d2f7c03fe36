-- A team's plan: `on_credit`, its numbers by name (PLAN_NUMBERS), and `most_characters`, what may be
-- used in a period. What an admission checks of them is in admit.lua.
--@ uses constants: PLAN_NUMBERS, PLAN, PLAN_BYTES
--@ uses shared: parse
--@ gives read_plan

-- Plans written before a number was introduced have 0 for it.
local function read_plan(packed)
  if #packed < PLAN_BYTES then
    packed = packed .. string.rep('\0', PLAN_BYTES - #packed)
  end
  local values, plan = { parse(PLAN, packed) }, {}
  for i, name in ipairs(PLAN_NUMBERS) do
    plan[name] = values[i + 1]
  end
  plan.on_credit, plan.most_characters = values[1] == 1, plan.character_limit + plan.overage_characters
  return plan
end
