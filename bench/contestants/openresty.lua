-- The OpenResty-style gateway: key from a cache before Redis, JSON parsed, one Redis script for rate and quota, no refund.
local cjson = require 'cjson.safe'
local lrucache = require 'resty.lrucache'
local redis = require 'nginx.redis'

local KEYS_MAX = 10000
local KEY_SECONDS = 60
local POOL_SIZE = 64
local POOL_IDLE_MS = 60000

-- A fixed window of a second, then the period's characters. KEYS: window, used. ARGV: rate limit, characters, quota.
local ADMIT = [[
local calls = redis.call('INCR', KEYS[1])
if calls == 1 then redis.call('PEXPIRE', KEYS[1], 1000) end
if calls > tonumber(ARGV[1]) then return 429 end
local used = redis.call('INCRBY', KEYS[2], ARGV[2])
if used > tonumber(ARGV[3]) then redis.call('DECRBY', KEYS[2], ARGV[2]) return 402 end
return 200
]]

local keys = lrucache.new(KEYS_MAX)
local admit_sha

local gateway = {}

local function refuse(status, code)
  ngx.status = status
  local body = cjson.encode({ error = code })
  ngx.header['Content-Type'] = 'application/json'
  ngx.header['Content-Length'] = #body
  ngx.print(body)
  return ngx.exit(status)
end

local function connect(port)
  local client = redis:new()
  client:set_timeout(500)
  local ok = client:connect('127.0.0.1', port)
  if not ok then return nil end
  return client
end

-- nil: there is no such key; nil and true: Redis did not answer.
local function team_of(client, key)
  local found = keys:get(key)
  if found then return found end
  local record = client:get('key:' .. key)
  if not record then return nil, true end
  if record == ngx.null then return nil end
  found = cjson.decode(record)
  keys:set(key, found, KEY_SECONDS)
  return found
end

local function characters_of(texts)
  local sum = 0
  for _, text in ipairs(texts) do
    if type(text) ~= 'string' or text == '' then return nil end
    local _, continued = text:gsub('[\128-\191]', '')
    sum = sum + #text - continued
  end
  return sum
end

local function admit(client, team, characters)
  if not admit_sha then admit_sha = client:script('load', ADMIT) end
  return client:evalsha(admit_sha, 2, 'rate:' .. team.id, 'used:' .. team.id, team.rate, characters, team.quota)
end

function gateway.access(port)
  local header = ngx.var.http_authorization
  local key = header and header:match('^Bearer (la_%a%a%a%a_%w+)$')
  if not key then return refuse(401, 'unauthorized') end
  ngx.req.read_body()
  local body = cjson.decode(ngx.req.get_body_data() or '')
  if type(body) ~= 'table' or type(body.text) ~= 'table' then return refuse(400, 'validation_error') end
  local characters = characters_of(body.text)
  if not characters then return refuse(400, 'validation_error') end
  local client = connect(port)
  if not client then return refuse(503, 'service_unavailable') end
  local team, silent = team_of(client, key)
  if silent then return refuse(503, 'service_unavailable') end
  if not team then
    client:set_keepalive(POOL_IDLE_MS, POOL_SIZE)
    return refuse(401, 'unauthorized')
  end
  local verdict = admit(client, team, characters)
  if verdict then client:set_keepalive(POOL_IDLE_MS, POOL_SIZE) end
  if verdict ~= 200 then return refuse(verdict or 503, 'refused') end
end

return gateway
