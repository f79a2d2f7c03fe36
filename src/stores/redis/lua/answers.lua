-- The answers of operations in the general way, and of those whose team's part of a call has failed.

-- The index of an operation's answer, where that is not its own: for copies that `settle_alone` makes.
local op_place = {}

local RESOLVED = { [IS_COMMITTED] = COMMITTED, [IS_RELEASED] = RELEASED, [IS_EXPIRED] = EXPIRED }

local function answer(i, text)
  answers[op_place[i] or i] = text
end

local function answer_all(first, last, text)
  for i = first, last do
    answer(i, text)
  end
end

local function failed(reason)
  local message = type(reason) == 'table' and reason.err or tostring(reason)
  return 'F' .. pack('>Bc0', min(255, #message), sub(message, 1, 255))
end
