-- A team's plan, and what its numbers refuse: judged here and nowhere else.
-- A plan is an array of the billing and the numbers, by the constants that the loader puts in front: plan[CHARACTER_LIMIT].

-- A plan that was written before a number was added has 0 for it.
local function read_plan(packed)
  if #packed < PLAN_BYTES then
    packed = packed .. string.rep('\0', PLAN_BYTES - #packed)
  end
  return { parse(PLAN, packed) }
end

-- Judged before the glossary.
local function is_too_long(plan, characters)
  return characters > plan[MAX_CHARACTERS_PER_REQUEST]
end

-- Judged after the glossary, by what is left of the balance, or used of the period, with what is held. Returns what the characters
-- cost in millionths of a minor unit, and what refuses them.
local function price(plan, characters, left, taken)
  if plan[BILLING] == 1 then
    local micro = characters * plan[MINOR_PER_MILLION]
    return micro, micro > left and 'credit'
  end
  return 0, taken + characters > plan[CHARACTER_LIMIT] + plan[OVERAGE_CHARACTERS] and 'quota'
end
