-- A team's plan, and what its numbers refuse: judged here for both ways of the ledger, and nowhere else.
-- A plan is an array of the billing and the numbers, by the constants that the loader puts in front: plan[CHARACTER_LIMIT].

local CREDIT = 1

-- One that was written before the last numbers came has 0 for them.
local function read_plan(packed)
  if #packed < PLAN_BYTES then
    packed = packed .. string.rep('\0', PLAN_BYTES - #packed)
  end
  return { parse(PLAN, packed) }
end

-- Ahead of a glossary: the refusal of a text, or nothing.
local function judge_text(plan, characters)
  if characters > plan[MAX_CHARACTERS_PER_REQUEST] then
    return 'x' .. pack('>d', plan[MAX_CHARACTERS_PER_REQUEST])
  end
end

-- Behind it: the refusal of a reservation over what is used and held, or false; second, the credit that it holds, in micro.
-- `ends` and `currency` are told.
local function judge_books(plan, characters, used, held, balance, held_micro, ends, currency)
  if plan[BILLING] == CREDIT then
    local micro, free = characters * plan[MINOR_PER_MILLION], balance - held_micro
    return micro > free and 'c' .. pack('>ddBc0', free, micro, #currency, currency), micro
  end
  local over = used + held + characters > plan[CHARACTER_LIMIT] + plan[OVERAGE_CHARACTERS]
  return over and 'q' .. pack('>ddd', plan[CHARACTER_LIMIT], plan[OVERAGE_CAP_MINOR], ends), 0
end
