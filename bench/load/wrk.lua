-- What wrk sends: the requests of a folder in turn, every answer compared. Arguments: the folder, then the statuses that are right.
local threads = {}

local function read(file)
  local handle = assert(io.open(file, 'rb'))
  local content = handle:read('*a')
  handle:close()
  return content
end

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  local folder = args[1]
  local body, path = read(folder .. '/body'), read(folder .. '/path')
  expected = read(folder .. '/expected')
  statuses, requests, turn, right, wrong = {}, {}, 0, 0, 0
  first = ''
  for i = 2, #args do statuses[tonumber(args[i])] = true end
  for authorization in io.lines(folder .. '/authorizations') do
    local headers = { ['Host'] = '127.0.0.1', ['Content-Type'] = 'application/json' }
    if authorization ~= '' then headers['Authorization'] = authorization end
    requests[#requests + 1] = wrk.format('POST', path, headers, body)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function response(status, _, body)
  if statuses[status] and (expected == '' or body == expected) then
    right = right + 1
  else
    if wrong == 0 then first = status .. ' ' .. body:sub(1, 300):gsub('[%c"\\]', ' ') end
    wrong = wrong + 1
  end
end

function done(summary, latency)
  local right, wrong, first = 0, 0, ''
  for _, thread in ipairs(threads) do
    right, wrong = right + thread:get('right'), wrong + thread:get('wrong')
    if first == '' then first = thread:get('first') end
  end
  local broken = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  local quantiles = string.format('"p50Ms":%g,"p99Ms":%g', latency:percentile(50) / 1000, latency:percentile(99) / 1000)
  local counts = string.format('"answers":%d,"faults":%d,"elapsedMs":%g', right, wrong + broken, summary.duration / 1000)
  io.write(string.format('\n{%s,%s,"fault":"%s"}\n', counts, quantiles, first))
end
