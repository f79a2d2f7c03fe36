-- Decodes a call of the ledger: any number of operations for any number of teams in one cluster slot, in one argument of bytes:
-- - `>dd` clock (-1: the server's; less: that plus `CORRECTED` minus this) and deadline; then for each team, in the order of KEYS:
-- - `>B` 1 if the bounds of a period follow, `>dddBc0` their start, end, anchor and the period's length; plus 2 if partial
--   commits follow after the last team;
-- - `>I2` the number of operations, and for each:
-- - `>Bc0B` its id and its kind: 0 a release, 1 a commit, otherwise an admission: the sum of 2, of 1 if it asks for the plan,
--   and of the other numbers below;
-- - for an admission or a check, which ends after key and rate, `>Bc0dd` its key, characters and lease; with a glossary
--   `>Bc0Bc0` its id and the language pair; if the lease is negative, it is -1 minus the lease, and what few requests
--   carry follows: `>B` the sum of 1 for an address, 2 for a scope and 4 for a tag, and each that there is as `>Bc0`, the tag with `>I4`
--   behind it, how many tags of the team are counted.
-- - Finally, for partial commits, `>I2` their number, and for each `>I2d` the one-based index of the operation in the call, and
--   the characters.
-- Operations are stored in parallel arrays, team after team: a table for each would cost more than its work.
--@ uses shared: byte, parse, NONE
--@ gives COMMIT_PART, ADMISSION, RESERVES, REPORTS_RATE, HAS_GLOSSARY, HAS_CHARACTERS, BY_BASE, IS_CHECK, PLAIN, op_what, op_id
--@ gives op_key, op_characters, op_lease, op_glossary, op_pair, answers, firsts, op_count, op_rare, has, read_call, KEY_UNKNOWN
--@ gives COMMITTED, ABSENT

-- A partial commit; set when the end of the call is decoded.
local COMMIT_PART = -1
local ADMISSION = 2
local RESERVES = 4
local REPORTS_RATE = 8
local HAS_GLOSSARY = 16
local HAS_CHARACTERS = 32
local BY_BASE = 64
local IS_CHECK = 128
local PLAIN = ADMISSION + RESERVES + HAS_CHARACTERS

local op_what, op_id, op_key, op_characters, op_lease = {}, {}, {}, {}, {}
local op_glossary, op_pair = {}, {}
local answers = {}
-- Where each team's operations begin in the arrays; after the last team, where another one's would begin.
local firsts = {}
-- Of this call; the arrays are reused by the next one. `op_rare` has what few operations have: address,
-- scope and tag at the operation's number, the length of texts that are not all charged at its negative; it is nil if none has either.
local op_count, op_rare

local function has(what, flag)
  return what % (2 * flag) >= flag
end

local read_call

do
  local COMMIT, HAS_PARTS = 1, 2

  local HAS_ADDRESS, HAS_SCOPE, HAS_TAG = 1, 2, 4

  -- Also returns the position after it.
  local function read_carried(data, at)
    local address, scope, tag, tags_most
    local what = byte(data, at) or error('a byte is missing')
    at = at + 1
    if has(what, HAS_ADDRESS) then
      address, at = parse('>Bc0', data, at)
    end
    if has(what, HAS_SCOPE) then
      scope, at = parse('>Bc0', data, at)
    end
    if has(what, HAS_TAG) then
      tag, tags_most, at = parse('>Bc0I4', data, at)
    end
    -- A table that is made with its members costs less than one that grows.
    return { address = address, scope = scope, tag = tag, tags_most = tags_most }, at
  end

  -- Returns the position after them.
  local function read_parts(data, at, count)
    local parts
    parts, at = parse('>I2', data, at)
    for _ = 1, parts do
      local i, characters
      i, characters, at = parse('>I2d', data, at)
      if i < 1 or i > count or op_what[i] ~= COMMIT then
        error('a part does not belong to a commit')
      end
      op_what[i], op_characters[i] = COMMIT_PART, characters
    end
    return at
  end

  -- Decodes the whole call first, so that a truncated call has no effect. Also returns the period bounds that were sent for some
  -- teams.
  function read_call(data)
    local clock, deadline, at = parse('>dd', data)
    local offers, i, has_parts = NONE, 0, false
    op_rare = nil
    for k = 1, #KEYS do
      local offered, high, low = byte(data, at, at + 2)
      if offered ~= 0 then
        has_parts = has_parts or (offered or error('a byte is missing')) >= HAS_PARTS
        if offered % HAS_PARTS == 1 then
          local offer = {}
          offer.starts, offer.ends, offer.anchor, offer.length, at = parse('>dddBc0', data, at + 1)
          high, low = byte(data, at, at + 1)
          at = at - 1
          offers = offers == NONE and {} or offers
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
          if op_characters[i] < 0 then
            op_rare = op_rare or {}
            op_rare[-i] = -1 - op_characters[i]
            op_characters[i], at = parse('>d', data, at)
          end
          if what ~= PLAIN and has(what, HAS_GLOSSARY) then
            op_glossary[i], op_pair[i], at = parse('>Bc0Bc0', data, at)
          end
          if op_lease[i] < 0 then
            op_lease[i], op_rare = -1 - op_lease[i], op_rare or {}
            op_rare[i], at = read_carried(data, at)
          end
        end
      end
    end
    if has_parts then
      at = read_parts(data, at, i)
    end
    if at ~= #data + 1 then
      error('a key is missing: the call has more operations than its keys account for')
    end
    firsts[#KEYS + 1], op_count = i + 1, i
    return clock, deadline, offers
  end
end

-- An answer is a letter, followed by its values.
local KEY_UNKNOWN = 'u'
local COMMITTED = 'C'
local ABSENT = 'N'
