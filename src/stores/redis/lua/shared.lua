-- What every script starts with: short names, complete arguments before anything is written, and the time.
-- The loader puts constants in front: RATE_WINDOW_MS, REMEMBER_MS, and those of src/stores/redis/team-layout.ts.

local call, floor, max, min = redis.call, math.floor, math.max, math.min
local insert, sub, byte = table.insert, string.sub, string.byte
local pack, parse = struct.pack, struct.unpack

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
local WHOLE = string.format('%d', 9007199254740991) == '9007199254740991' and '%d' or '%.0f'

local function digits(number)
  return string.format(WHOLE, number)
end

local function server_ms()
  local time = call('TIME')
  return time[1] * 1000 + floor(time[2] / 1000)
end

-- Arguments 1 and 2: the time, or '' for the server's own, and the deadline by the same clock.
local function read_clock()
  local now = tonumber(text_at(1)) or server_ms()
  return now, now > number_at(2)
end

-- unpack() is limited by Lua's stack; lists are written in pieces of this many values (even: they may be pairs).
local PIECE = 1000

local function call_in_pieces(command, key, values)
  for first = 1, #values, PIECE do
    call(command, key, unpack(values, first, min(first + PIECE - 1, #values)))
  end
end
