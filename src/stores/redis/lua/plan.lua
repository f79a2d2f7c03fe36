-- A team's plan and the limits that it sets. A plan is an array of the billing and the numbers, indexed by the constants that
-- the loader prepends: plan[CHARACTER_LIMIT].

-- Plans written before a number was introduced have 0 for it.
local function read_plan(packed)
  if #packed < PLAN_BYTES then
    packed = packed .. string.rep('\0', PLAN_BYTES - #packed)
  end
  return { parse(PLAN, packed) }
end

-- Checked before the glossary.
local function is_too_long(plan, characters)
  return characters > plan[MAX_CHARACTERS_PER_REQUEST]
end

-- Checked after the glossary, against the rest of the balance, or the usage of the period including what is reserved. Returns
-- the price of the characters in millionths of a minor unit, and the reason to reject them.
local function price(plan, characters, left, taken)
  if plan[BILLING] == 1 then
    local micro = characters * plan[MINOR_PER_MILLION]
    return micro, micro > left and 'credit'
  end
  return 0, taken + characters > plan[CHARACTER_LIMIT] + plan[OVERAGE_CHARACTERS] and 'quota'
end
