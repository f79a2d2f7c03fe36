-- The start of every function: short names, the time, its arguments, and long lists for commands.
--@ uses constants: FOLLOWED_STEP_MS
--@ gives call, floor, max, min, insert, unpack, sub, byte, pack, parse, NONE, now_past, server_ms, key_at, text_at, number_at
--@ gives digits, format_of, is_late, read_clock, believed_ms, PIECE, call_in_pieces

local call, floor, max, min = redis.call, math.floor, math.max, math.min
local insert, unpack, sub, byte = table.insert, _G.unpack, string.sub, string.byte
local pack, parse = struct.pack, struct.unpack
local NONE = {}

-- How much of the current millisecond may have passed: all of it, unless the server's own clock was read.
local now_past = 1

local function server_ms()
  local time = call('TIME')
  now_past = time[2] % 1000 / 1000
  return time[1] * 1000 + floor(time[2] / 1000)
end

-- Arguments are complete before anything is written.
local function key_at(i)
  return KEYS[i] or error('key ' .. i .. ' is missing')
end

local function text_at(i)
  return ARGV[i] or error('argument ' .. i .. ' is missing')
end

local function number_at(i)
  return tonumber(text_at(i)) or error('argument ' .. i .. ' is not a number')
end

local digits, format_of

do
  -- Lua's tostring uses exponents (1e+14) from fifteen digits on. %d is faster, if integers are wide enough.
  local WHOLE = string.format('%d', 9007199254740991) == '9007199254740991' and '%d' or '%.0f'

  function digits(number)
    return string.format(WHOLE, number)
  end

  -- For string.format: each # is a number, written like that.
  function format_of(text)
    return (string.gsub(text, '#', (string.gsub(WHOLE, '%%', '%%%%'))))
  end
end

-- Whether a deadline forbids a function to have any effect: it is over, or the clock has stepped back since it was computed.
local function is_late(now, deadline)
  return now > deadline or deadline - now > FOLLOWED_STEP_MS
end

-- Arguments 1 and 2: the time, or '' for the server's clock, or '~' and what to add to that; and the deadline on the same clock, or
-- '' for none.
local function read_clock()
  local now = tonumber(text_at(1)) or server_ms() + (tonumber(sub(text_at(1), 2)) or 0)
  return now, text_at(2) ~= '' and is_late(now, number_at(2))
end

-- For functions without a deadline: the server's time, unless that is far from the time that the driver believes.
local function believed_ms(believed)
  local now = server_ms()
  return believed and math.abs(now - believed) > FOLLOWED_STEP_MS and believed or now
end

-- Lua's stack limits unpack(), so lists are written in batches of this many values; even, because they may be pairs.
local PIECE = 1000

-- Returns the last reply.
local function call_in_pieces(command, key, values, count)
  local reply
  count = count or #values
  for first = 1, count, PIECE do
    reply = call(command, key, unpack(values, first, min(first + PIECE - 1, count)))
  end
  return reply
end
