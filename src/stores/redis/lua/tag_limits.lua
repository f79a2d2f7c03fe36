-- Tags with settings, in the open account: records of the team, `:tag_limits` with the settings and `:tag_uses` with what is used.
-- Formats and rules are those of stores/records/tag-uses.ts. The account's are in `rare.tagged`, by tag: `settings`, nil if only a
-- settlement has asked; `counts`, as windows.lua has them once they are decoded, except that characters are counted from when they
-- were read, before which a window began with less than none; `number`, `from`, `characters`, `told` of a period; `newest`, `low`,
-- `total`, `slots` of its rate, as guards.lua has them, but with entries of digits. False for a tag of which nothing is used.
--@ uses constants: RATE_WINDOW_MS, TAGGED, TAGGED_BYTES
--@ uses shared: call, max, min, insert, sub, parse, digits, format_of, call_in_pieces
--@ uses state: now, number, team_key, team_names, tagged_field, key_beside, rarely
--@ uses windows: windows
--@ gives tagging

-- `current`: the tag of the request that is being judged, if it has settings.
local tagging = { current = nil }

do
  local PERS = { minute = 1, hour = 2, day = 3, week = 4, month = 5 }
  local LAST = 5

  -- Settings by their texts, because many requests have the same tag.
  local known, known_count = {}, 0
  local KNOWN_MAX = 1000

  local function settings_of(text)
    if known[text] then
      return known[text]
    elseif known_count >= KNOWN_MAX then
      known, known_count = {}, 0
    end
    local disabled, rate, characters, list = string.match(text, '^([01]) (%d+) (%d+) ?(.*)$')
    local none, limits = math.huge, { false, false, false, false, false, least_characters = math.huge }
    for counts, most, per in string.gmatch(list, '(%a+)=(%d+)/(%a+)') do
      local window = PERS[per]
      limits[window] = limits[window] or { requests = none, characters = none }
      limits[window][counts] = tonumber(most)
      limits.least_characters = min(limits.least_characters, limits[window].characters)
    end
    local settings = { disabled = disabled == '1', rate = tonumber(rate), characters = tonumber(characters), windows = limits }
    known[text], known_count = settings, known_count + 1
    return settings
  end

  local HEAD = '^(%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+) (%d+) (%S+)()'
  local WINDOW = ' (%d):(%d+):(%d+):(%d+):%d+:(%d+):([01])'

  local function read(name, text)
    local tickets, of, from, characters, told, newest, low, total, slots, behind = string.match(text, HEAD)
    -- How much the windows allow is not in the record.
    local counts = { tickets = tonumber(tickets), characters = 0, since = 0, ends = 0, tickets_most = 0, characters_most = 0 }
    counts.open, counts.tag = {}, name
    for window, starts, ends, since, counted, is_told in string.gmatch(sub(text, behind), WINDOW) do
      counts.open[tonumber(window)] = {
        starts = tonumber(starts), ends = tonumber(ends), from = tonumber(since), before = -tonumber(counted), told = tonumber(is_told),
      }
    end
    local tag = { name = name, counts = counts, number = tonumber(of), from = tonumber(from), characters = tonumber(characters) }
    tag.told, tag.newest, tag.low, tag.total = tonumber(told), tonumber(newest), tonumber(low), tonumber(total)
    tag.slots = slots == '-' and '' or slots
    if tag.number ~= number then
      tag.number, tag.from, tag.characters, tag.told = number, counts.tickets, 0, 0
    end
    return tag
  end

  -- Tags as they were written last, with their `text`, by team and name: what is stored like that need not be decoded again.
  local written_tags, written_count = {}, 0
  local WRITTEN_MAX = 2000

  local function as_written(name, text)
    local of_team = written_tags[team_key]
    local tag = of_team and of_team[name]
    if not tag or tag.text ~= text or tag.number ~= number then
      return nil
    end
    -- It is no longer what is stored if the account fails.
    tag.text, tag.settings, tag.changed, tag.counts.changed = nil, nil, false, false
    return tag
  end

  local function remember(tag, text)
    if not written_tags[team_key] or not written_tags[team_key][tag.name] then
      if written_count >= WRITTEN_MAX then
        written_tags, written_count = {}, 0
      end
      written_tags[team_key], written_count = written_tags[team_key] or {}, written_count + 1
    end
    written_tags[team_key][tag.name], tag.text = tag, text
  end

  local function key_of(table_name)
    team_names[table_name] = team_names[table_name] or key_beside(table_name)
    return team_names[table_name]
  end

  local function uses_of(name)
    local all = rarely('tagged')
    if all[name] == nil then
      local text = call('HGET', key_of('tag_uses'), name)
      all[name] = text and (as_written(name, text) or read(name, text)) or false
    end
    return all[name]
  end

  -- Reads a request's tag, nil for none, into `current`. Must be called before anything is judged, once the period is known.
  function tagging.open(name)
    tagging.current = nil
    if not name or not tagged_field then
      return
    end
    local tag = uses_of(name)
    if not tag or tag.settings == nil then
      local text = call('HGET', key_of('tag_limits'), name)
      if text and not tag then
        -- Tickets begin with the time, so that they are greater than those of an earlier record.
        tag = read(name, digits(now) .. ' 0 0 0 0 0 0 0 -')
        rarely('tagged')[name] = tag
      end
      if tag then
        tag.settings = text and settings_of(text) or false
        local limits = tag.settings and tag.settings.windows
        if tag.counts.limits ~= limits then
          tag.counts.limits, tag.counts.ends = limits, 0
        end
      end
    end
    tagging.current = tag and tag.settings and tag or nil
  end

  local ENTRY_BYTES, LOW = 11, 65536

  -- The time of an entry, and how many slots were taken then.
  local function entry_at(slots, at)
    return tonumber(sub(slots, at, at + 4)), tonumber(sub(slots, at + 5, at + 10))
  end

  local function age(tag, low)
    return (tag.low - low) % LOW
  end

  -- Milliseconds until the tag's rate has a free slot, 0 if it has one. If the clock has stepped back, the slots move with it.
  function tagging.wait(tag)
    if tag.newest > now and tag.total > 0 then
      tag.newest, tag.changed = now, true
    end
    local over, at = tag.total - tag.settings.rate, 1
    while over >= 0 do
      local low, count = entry_at(tag.slots, at)
      over, at = over - count, at + ENTRY_BYTES
      if over < 0 then
        return max(0, tag.newest - age(tag, low) + RATE_WINDOW_MS - now)
      end
    end
    return 0
  end

  -- After `wait`, which has to be 0.
  function tagging.take_slot(tag)
    local at = 1
    while at <= #tag.slots do
      local low, count = entry_at(tag.slots, at)
      if now - tag.newest + age(tag, low) < RATE_WINDOW_MS then
        break
      end
      tag.total, at = tag.total - count, at + ENTRY_BYTES
    end
    local slots, taken_now = sub(tag.slots, at), 1
    if tag.total == 0 then
      tag.newest, tag.low = now, 0
    elseif tag.newest == now then
      taken_now = select(2, entry_at(slots, #slots - ENTRY_BYTES + 1)) + 1
      slots = sub(slots, 1, -ENTRY_BYTES - 1)
    else
      tag.low, tag.newest = (tag.low + now - tag.newest) % LOW, now
    end
    tag.slots = slots .. string.format('%05.0f%06.0f', tag.low, taken_now)
    tag.total, tag.changed = tag.total + 1, true
  end

  -- Whether these characters exceed what the tag may use in the period.
  function tagging.is_used_up(tag, characters)
    return tag.settings.characters > 0 and tag.characters + characters > tag.settings.characters
  end

  function tagging.hold(tag, characters)
    tag.characters, tag.changed = tag.characters + characters, true
  end

  -- Characters of the reservation with this record are not charged after all.
  function tagging.release(record, characters, reserved_in)
    local behind = #record - TAGGED_BYTES
    local ticket, _, length = parse(TAGGED, record, behind + 1)
    local tag = ticket > 0 and characters > 0 and uses_of(sub(record, behind - length + 1, behind))
    if not tag then
      return
    end
    windows.give_back(tag.counts, ticket, characters)
    if reserved_in == tag.number and ticket > tag.from then
      tag.characters = max(0, tag.characters - characters)
    end
    tag.changed = true
  end

  local HEAD_WRITTEN, WINDOW_WRITTEN = format_of('# # # # # # # # %s'), format_of(' #:#:#:#:#:#:#')

  local function written(tag)
    local counts, slots = tag.counts, tag.slots == '' and '-' or tag.slots
    local text = string.format(HEAD_WRITTEN, counts.tickets, tag.number, tag.from, tag.characters, tag.told, tag.newest, tag.low, tag.total, slots)
    for window = 1, LAST do
      local one = counts.open[window]
      if one then
        local requests, counted = counts.tickets - one.from, counts.characters - one.before
        text = text .. string.format(WINDOW_WRITTEN, window, one.starts, one.ends, one.from, requests, counted, one.told)
      end
    end
    return text
  end

  function tagging.write(all)
    local fields = {}
    for name, tag in pairs(all) do
      if tag and (tag.changed or tag.counts.changed) then
        insert(fields, name)
        insert(fields, written(tag))
      end
    end
    call_in_pieces('HSET', key_of('tag_uses'), fields)
    for i = 1, #fields, 2 do
      remember(all[fields[i]], fields[i + 1])
    end
  end
end
