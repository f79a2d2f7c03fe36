-- A team's plan, and what its numbers refuse: judged here for both ways of the ledger, and nowhere else.
-- A plan is an array of the billing and the numbers, by the constants that the loader puts in front: plan[CHARACTER_LIMIT].

-- One that was written before the last numbers came has 0 for them.
local function read_plan(packed)
  if #packed < PLAN_BYTES then
    packed = packed .. string.rep('\0', PLAN_BYTES - #packed)
  end
  return { parse(PLAN, packed) }
end

-- The rules, of variables that stand for them where they are used: `plan`, `characters` of the request, and of the team `used`
-- and `held` characters, `balance` and `held_micro`.
local IS_CREDIT = plan[BILLING] == 1

-- Ahead of a glossary.
local IS_TOO_LONG = characters > plan[MAX_CHARACTERS_PER_REQUEST]

-- Behind it. What a reservation holds of the credit, in micro, is `micro` to the rule below.
local MICRO = IS_CREDIT and characters * plan[MINOR_PER_MILLION] or 0
local EXCEEDS_CREDIT = IS_CREDIT and micro > balance - held_micro
local EXCEEDS_QUOTA = not IS_CREDIT and used + held + characters > plan[CHARACTER_LIMIT] + plan[OVERAGE_CHARACTERS]
