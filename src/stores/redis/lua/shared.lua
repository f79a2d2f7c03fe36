-- What every operation starts with: arguments that are complete before anything is written, and the time.
-- The loader puts the constants RATE_WINDOW_MS and REMEMBER_MS in front.

local call, insert, format, floor = redis.call, table.insert, string.format, math.floor

local function key_at(i)
  return KEYS[i] or error('key ' .. i .. ' is missing')
end

local function text_at(i)
  return ARGV[i] or error('argument ' .. i .. ' is missing')
end

local function number_at(i)
  return tonumber(text_at(i)) or error('argument ' .. i .. ' is not a number')
end

-- Lua's own tostring writes 1e+14 from fifteen digits on. Whole numbers print faster as such, where they are wide enough.
local WHOLE = format('%d', 9007199254740991) == '9007199254740991' and '%d' or '%.0f'

local function digits(number)
  return format(WHOLE, number)
end

-- Arguments 1 and 2: the time, or '' for the server's own, and the deadline by the same clock.
local function read_clock()
  local now = tonumber(text_at(1))
  if not now then
    local time = call('TIME')
    now = time[1] * 1000 + floor(time[2] / 1000)
  end
  return now, now > number_at(2)
end

-- unpack() is limited by Lua's stack; lists are written in pieces of this many values (even: they may be pairs).
local PIECE = 1000

local function call_in_pieces(command, key, values)
  for first = 1, #values, PIECE do
    call(command, key, unpack(values, first, math.min(first + PIECE - 1, #values)))
  end
end

local function append(fields, more)
  for _, value in ipairs(more) do
    insert(fields, value)
  end
end
