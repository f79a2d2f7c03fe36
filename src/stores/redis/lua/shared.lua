-- The start of every function: short names, and the time. The loader prepends constants: RATE_WINDOW_MS, REMEMBER_MS, and those
-- of src/stores/redis/team-layout.ts.

local call, floor, max, min = redis.call, math.floor, math.max, math.min
local insert, unpack, sub, byte = table.insert, unpack, string.sub, string.byte
local pack, parse = struct.pack, struct.unpack
local NONE = {}

local function server_ms()
  local time = call('TIME')
  return time[1] * 1000 + floor(time[2] / 1000)
end
