-- A call of the ledger, read: any number of operations, of any number of teams that share a slot, in one argument of bytes:
-- `>dd` clock (negative for the server's own) and deadline; then per team, in the order of KEYS:
--   `>B` 1 if bounds of a period follow, `>dddBc0` their start and end, what they are counted from and the period's length; 2 more
--   if parts follow behind the last team;
--   `>I2` how many operations, and of each:
--     `>Bc0B` its id and what it is: 0 a release, 1 a commit, or an admission as the sum of 2, of 1 where it
--     asks for the plan, and of the other numbers below;
--     of an admission, and of a check, which ends behind key and rate, `>Bc0dd` its key, characters, lease; with a glossary `>Bc0Bc0` that and the pair;
--     where the lease is below zero, -1 less what it is, an address follows, `>Bc0` its bytes.
-- then, where a commit charges a part of what was reserved, `>I2` how many do, and of each `>I2d` which operation of the call it is,
-- from 1, and the characters.
-- Operations are kept in parallel arrays, team after team: a table for each would cost more than its work.

-- A commit of a part, as which it is known when the end of the call has been read.
local COMMIT_PART = -1
local ADMISSION, RESERVES, TELLS_RATE, HAS_GLOSSARY, HAS_CHARACTERS, BY_BASE, IS_CHECK = 2, 4, 8, 16, 32, 64, 128
local PLAIN = ADMISSION + RESERVES + HAS_CHARACTERS

local op_what, op_id, op_key, op_characters, op_lease = {}, {}, {}, {}, {}
local op_glossary, op_pair = {}, {}
local answers = {}
-- Of this call; the arrays are used again by the next one. `op_address` is nil while no operation has one.
local op_count, op_address

local function has(what, flag)
  return what % (2 * flag) >= flag
end

local read_call

do
  local COMMIT, HAS_PARTS = 1, 2

  -- Returns where they end.
  local function read_parts(data, at, count)
    local parts
    parts, at = parse('>I2', data, at)
    for _ = 1, parts do
      local i, characters
      i, characters, at = parse('>I2d', data, at)
      if i < 1 or i > count or op_what[i] ~= COMMIT then
        error('a part is of no commit')
      end
      op_what[i], op_characters[i] = COMMIT_PART, characters
    end
    return at
  end

  -- Read completely before anything is done, so that a truncated call does nothing. A team's operations are those from its entry
  -- in `firsts` up to the next team's; `offers` has the period bounds that came with some teams.
  function read_call(data)
    local clock, deadline, at = parse('>dd', data)
    local firsts, offers, i, has_parts = {}, {}, 0, false
    op_address = nil
    for k = 1, #KEYS do
      local offered, high, low = byte(data, at, at + 2)
      if offered ~= 0 then
        has_parts = has_parts or (offered or error('a byte is missing')) >= HAS_PARTS
        if offered % HAS_PARTS == 1 then
          local offer = {}
          offer.starts, offer.ends, offer.anchor, offer.length, at = parse('>dddBc0', data, at + 1)
          high, low = byte(data, at, at + 1)
          at = at - 1
          offers[k] = offer
        end
      end
      if not low then
        error('a byte is missing')
      end
      local count = high * 256 + low
      at, firsts[k] = at + 3, i + 1
      for _ = 1, count do
        local what
        i = i + 1
        op_id[i], what, at = parse('>Bc0B', data, at)
        op_what[i] = what
        if what >= ADMISSION then
          op_key[i], op_characters[i], op_lease[i], at = parse('>Bc0dd', data, at)
          if what ~= PLAIN and has(what, HAS_GLOSSARY) then
            op_glossary[i], op_pair[i], at = parse('>Bc0Bc0', data, at)
          end
          if op_lease[i] < 0 then
            op_lease[i], op_address = -1 - op_lease[i], op_address or {}
            op_address[i], at = parse('>Bc0', data, at)
          end
        end
      end
    end
    if has_parts then
      at = read_parts(data, at, i)
    end
    if at ~= #data + 1 then
      error('a key is missing: the call says more than its keys account for')
    end
    firsts[#KEYS + 1], op_count = i + 1, i
    return clock, deadline, firsts, offers
  end
end

-- An answer is a letter, followed by its values.
local REPEATED, KEY_UNKNOWN, KEY_REVOKED, LATE = 'r', 'u', 'v', 'T'
local COMMITTED, RELEASED, EXPIRED, ABSENT = 'C', 'R', 'E', 'N'
local ADMITTED, RESERVED, RESERVED_WITH = 'a', 'A', 'G'

-- `letter` is 'L' for the team's rate, 'l' for the key's own.
local function rate_limited(letter, rate, wait)
  return letter .. pack('>dd', rate, wait)
end

-- Precedes the answer of a request that has taken a place, where the rate is to be reported: '+' for the team's, '*' for the key's.
local function rate_standing(letter, rate, remaining)
  return letter .. pack('>dd', rate, remaining)
end
