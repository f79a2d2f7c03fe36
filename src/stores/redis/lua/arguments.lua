-- Argument handling for functions other than the ledger: missing arguments fail before anything is written, and long lists are
-- split.

local function key_at(i)
  return KEYS[i] or error('key ' .. i .. ' is missing')
end

local function text_at(i)
  return ARGV[i] or error('argument ' .. i .. ' is missing')
end

local function number_at(i)
  return tonumber(text_at(i)) or error('argument ' .. i .. ' is not a number')
end

-- Lua's tostring uses exponents (1e+14) from fifteen digits on. %d is faster, if integers are wide enough.
local WHOLE = string.format('%d', 9007199254740991) == '9007199254740991' and '%d' or '%.0f'

local function digits(number)
  return string.format(WHOLE, number)
end

-- Arguments 1 and 2: the time, or '' for the server's clock, and the deadline on the same clock.
local function read_clock()
  local now = tonumber(text_at(1)) or server_ms()
  return now, now > number_at(2)
end

-- Lua's stack limits unpack(), so lists are written in batches of this many values; even, because they may be pairs.
local PIECE = 1000

local function call_in_pieces(command, key, values)
  for first = 1, #values, PIECE do
    call(command, key, unpack(values, first, min(first + PIECE - 1, #values)))
  end
end
