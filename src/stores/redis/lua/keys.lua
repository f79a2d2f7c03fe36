-- A team's keys, as steps of a change of its records (records.lua). Their records are "<order> <created> <JSON>" in `keys`; what an
-- admission needs is in the team's record as `k<key>`, and what limits the key as `l:<key>`, with its counters as `w:<key>`.
--@ uses constants: BOOKS, KEY, KEY_LIMITS, KEY_COUNTS, KEY_COUNTS_BYTES, OPEN, DONE_BYTES, HEAD
--@ uses shared: call, sub, pack, parse, digits
--@ uses layout: open_key, beside
--@ gives team_keys

local team_keys = {}

do
  -- What follows the status of a key that was never used.
  local UNUSED = sub(pack(KEY, 0, 0, 0, 0, 0, 0), 2)

  -- The record, the state and the limits of a key, '' for none.
  function team_keys.values(team, id)
    local stored = call('HMGET', team, 'k' .. id, 'l:' .. id)
    return call('HGET', beside(team, 'keys'), id) or '', stored[1] or '', stored[2] or ''
  end

  -- The characters held by the key's open reservations in the team's period, including those made before it had a limit.
  local function held_by(team, id)
    local number = parse(BOOKS, call('HGET', team, 'b'))
    local ids_key, sum = beside(team, 'ids'), 0
    local head = call('HGET', ids_key, 'h')
    local held, _, held_in = 0, 0, 0
    if head then
      held, _, held_in = parse(HEAD, head)
    end
    if held > 0 and held_in == number then
      local ids = call('HGETALL', ids_key)
      for i = 1, #ids, 2 do
        local record = ids[i + 1]
        -- Fields with one-letter names are not request ids.
        if #ids[i] > 1 and #record > DONE_BYTES and open_key(record) == id then
          local _, characters, _, reserved_in = parse(OPEN, record)
          sum = sum + (reserved_in == number and characters or 0)
        end
      end
    end
    return number, sum
  end

  -- The counters for the key's new limits, as far as they are needed.
  local function counts_of(team, id, limits)
    local _, _, rate, characters = parse(KEY_LIMITS, limits)
    local number, held = 0, 0
    if characters > 0 then
      number, held = held_by(team, id)
    end
    local counts = call('HGET', team, 'w:' .. id)
    local newest, low, total, slots = 0, 0, 0, ''
    if counts and rate > 0 then
      newest, low, total = select(3, parse(KEY_COUNTS, counts))
      slots = sub(counts, KEY_COUNTS_BYTES + 1)
    end
    return pack(KEY_COUNTS, number, held, newest, low, total) .. slots
  end

  team_keys.steps = {
    -- The key is as it was read, as far as operators change it: its record, its status, its limits; all '' if there is none.
    same_key = {
      count = 4,
      holds = function(team, id, record, status, limits)
        local record_now, state, limits_now = team_keys.values(team, id)
        return record_now == record and sub(state, 1, 1) == status and limits_now == limits
      end,
    },
    -- The record of a new key has no order.
    put_key = {
      count = 4,
      make = function(team, id, record, status, limits)
        local keys, before, state, limits_before = beside(team, 'keys'), team_keys.values(team, id)
        call('HSET', keys, id, before == '' and digits(call('HLEN', keys)) .. ' ' .. record or record)
        call('HSET', team, 'k' .. id, status .. (state ~= '' and sub(state, 2) or UNUSED))
        if limits == '' then
          call('HDEL', team, 'l:' .. id, 'w:' .. id)
        elseif limits ~= limits_before then
          call('HSET', team, 'l:' .. id, limits, 'w:' .. id, counts_of(team, id, limits))
        end
      end,
    },
  }
end
