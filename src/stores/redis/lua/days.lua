-- Usage of keys by UTC day: `:days`, a hash with a field for each key. A key's record knows only the day of its newest counts;
-- their growth is added to that day when another one begins, so that a commit needs no additional write. A field is the header,
-- then for each day its distance from the day before, its characters and its requests, as numbers of seven bits per byte,
-- lowest bits first. The field `last_done` is the last day that is complete for all keys.
--@ uses constants: DAYS, DAYS_BYTES
--@ uses shared: floor, max, min, insert, sub, byte, pack, parse, NONE
--@ uses layout: NEVER
--@ gives days

local days = { DONE = 'told' }

do
  local char = string.char

  local function in_sevens(number)
    local bytes = ''
    while number >= 128 do
      bytes, number = bytes .. char(128 + number % 128), floor(number / 128)
    end
    return bytes .. char(number)
  end

  -- Reads three numbers; also returns the position after them.
  local function three_sevens(bytes, at)
    local found = {}
    for i = 1, 3 do
      local number, unit, next_byte = 0, 1, 128
      while next_byte >= 128 do
        next_byte, at = byte(bytes, at), at + 1
        number, unit = number + next_byte % 128 * unit, unit * 128
      end
      found[i] = number
    end
    return found[1], found[2], found[3], at
  end

  -- For a key that has no days yet; its record counts from here.
  function days.none(number, characters, requests)
    return { number = number, characters = characters, requests = requests, before = 0, last = 0, at = 1, list = '', changed = true }
  end

  -- Decodes stored days; nil if there are none.
  function days.read(packed)
    if not packed then
      return nil
    end
    local of = { list = sub(packed, DAYS_BYTES + 1) }
    of.number, of.characters, of.requests, of.before, of.last, of.at = parse(DAYS, packed)
    return of
  end

  function days.record(of)
    return pack(DAYS, of.number, of.characters, of.requests, of.before, of.last, of.at) .. of.list
  end

  -- Adds a day after all others.
  local function append_day(of, day, characters, requests)
    if of.list == '' then
      of.before, of.last = day - 1, day - 1
    end
    of.at = #of.list + 1
    of.list = of.list .. in_sevens(day - of.last) .. in_sevens(characters) .. in_sevens(requests)
    of.last = day
  end

  -- All days in order, as { day, characters, requests }.
  local function listed_days(of)
    local all, day, at = {}, of.before, 1
    while at <= #of.list do
      local step, characters, requests
      step, characters, requests, at = three_sevens(of.list, at)
      day = day + step
      insert(all, { day, characters, requests })
    end
    return all
  end

  -- Adds to a day that exists already or precedes others, because the clock went back.
  local function insert_day(of, day, characters, requests)
    local all, position = listed_days(of), 1
    while all[position] and all[position][1] < day do
      position = position + 1
    end
    if all[position] and all[position][1] == day then
      all[position] = { day, all[position][2] + characters, all[position][3] + requests }
    else
      insert(all, position, { day, characters, requests })
    end
    of.list = ''
    for _, one in ipairs(all) do
      append_day(of, one[1], one[2], one[3])
    end
  end

  function days.add(of, day, characters, requests)
    if of.list == '' or day > of.last then
      append_day(of, day, characters, requests)
    elseif day == of.last then
      local step, had, had_requests = three_sevens(of.list, of.at)
      of.list = sub(of.list, 1, of.at - 1) .. in_sevens(step) .. in_sevens(had + characters) .. in_sevens(had_requests + requests)
    else
      insert_day(of, day, characters, requests)
    end
    of.changed, of.added = true, min(of.added or NEVER, day)
  end

  -- The days after `last_done`. Usually only the last one, which can be read without the others.
  function days.since(of, last_done)
    if of.list == '' or of.last <= last_done then
      return NONE
    end
    local step, characters, requests = three_sevens(of.list, of.at)
    if of.last - step <= last_done then
      return { { of.last, characters, requests } }
    end
    local since = {}
    for _, one in ipairs(listed_days(of)) do
      if one[1] > last_done then
        insert(since, one)
      end
    end
    return since
  end

  -- Adds what the key's record has counted since the last call. For a key without days it is unknown since when that is, so the
  -- existing counts stay without a day.
  function days.close(of, key)
    local characters, requests = key.characters, key.requests
    if of.number == key.number then
      characters, requests = characters - of.characters, requests - of.requests
    end
    if requests > 0 then
      days.add(of, max(1, key.day), characters, requests)
    end
    if of.number ~= key.number or requests ~= 0 then
      of.number, of.characters, of.requests, of.changed = key.number, key.characters, key.requests, true
    end
  end

  -- Drops the days before `first`.
  function days.drop(of, first)
    local at, day = 1, of.before
    while at <= #of.list do
      local step, _, _, behind = three_sevens(of.list, at)
      if day + step >= first then
        break
      end
      at, day = behind, day + step
    end
    if at > 1 then
      of.list, of.before, of.at, of.changed = sub(of.list, at), day, max(1, of.at - at + 1), true
    end
  end
end
