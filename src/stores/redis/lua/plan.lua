-- A team's plan, and what its numbers refuse: judged here for both ways of the ledger, and nowhere else.
-- A plan is an array of the billing and the numbers, by the constants that the loader puts in front: plan[CHARACTER_LIMIT].

-- A plan that was written before a number was added has 0 for it.
local function read_plan(packed)
  if #packed < PLAN_BYTES then
    packed = packed .. string.rep('\0', PLAN_BYTES - #packed)
  end
  return { parse(PLAN, packed) }
end

-- The rules, as text that is put in where their names stand. They use the variables of that place: `plan`, the request's
-- `characters`, and the team's `used` and `held` characters, `balance` and `held_micro`.
local IS_CREDIT = plan[BILLING] == 1

-- Judged before the glossary.
local IS_TOO_LONG = characters > plan[MAX_CHARACTERS_PER_REQUEST]

-- Judged after the glossary. `micro` is what the reservation would hold of the credit, in millionths of a minor unit.
local MICRO = IS_CREDIT and characters * plan[MINOR_PER_MILLION] or 0
local EXCEEDS_CREDIT = IS_CREDIT and micro > balance - held_micro
local EXCEEDS_QUOTA = not IS_CREDIT and used + held + characters > plan[CHARACTER_LIMIT] + plan[OVERAGE_CHARACTERS]
