-- What is charged by tag and day, in the open account: records of the team, `:tag_counts` and `:tag_days`. Formats and rules are
-- those of stores/records/tag-counts.ts.
--@ uses constants: TAGGED, TAGGED_BYTES, FURTHER_TAGS
--@ uses shared: call, sub, parse, format_of, call_in_pieces
--@ uses state: today, team_names, key_beside
--@ gives tags

-- `count`: of how many tags the account has read counts; `others`: how many tags but FURTHER_TAGS the team has, once that is needed.
local tags = { count = 0, others = nil }

do
  local COUNTS, DAY = format_of('# # #'), format_of('#:#:#')
  -- The counts of this account; the next one reuses the tables. `earlier`: the days before, if another one has begun.
  local read_counts = {}

  -- Must be called before any charge of the account.
  function tags.begin()
    tags.count, tags.others = 0, nil
  end

  local function counts_key()
    team_names.tag_counts = team_names.tag_counts or key_beside('tag_counts')
    return team_names.tag_counts
  end

  local function read(tag)
    for i = 1, tags.count do
      if read_counts[i].tag == tag then
        return read_counts[i]
      end
    end
    local stored, i = call('HGET', counts_key(), tag), tags.count + 1
    local counts = read_counts[i]
    if not counts then
      counts = { tag = '', day = 0, characters = 0, requests = 0, is_stored = false, is_known = false, changed = false, earlier = false }
      read_counts[i] = counts
    end
    tags.count, counts.tag, counts.changed, counts.earlier = i, tag, false, false
    counts.is_stored, counts.is_known = stored ~= false, stored ~= false
    if stored then
      local day, characters, requests = string.match(stored, '^(%d+) (%d+) (%d+)$')
      counts.day, counts.characters, counts.requests = tonumber(day), tonumber(characters), tonumber(requests)
    end
    return counts
  end

  local function counts_of(tag, most)
    local counts = read(tag)
    if counts.is_known then
      return counts
    end
    if tag ~= FURTHER_TAGS then
      tags.others = tags.others or call('HLEN', counts_key()) - (read(FURTHER_TAGS).is_stored and 1 or 0)
      if tags.others >= most then
        return counts_of(FURTHER_TAGS, most)
      end
      tags.others = tags.others + 1
    end
    counts.is_known, counts.day, counts.characters, counts.requests = true, today, 0, 0
    return counts
  end

  -- Counts a commit of the reservation with this record, which has a tag.
  function tags.charge(record, characters)
    local behind = #record - TAGGED_BYTES
    local _, most, length = parse(TAGGED, record, behind + 1)
    local counts = counts_of(sub(record, behind - length + 1, behind), most)
    if counts.day ~= today then
      local earlier = counts.earlier or call('HGET', key_beside('tag_days'), counts.tag) or ''
      local ended = string.format(DAY, counts.day, counts.characters, counts.requests)
      counts.earlier = earlier == '' and ended or earlier .. ' ' .. ended
      counts.day, counts.characters, counts.requests = today, 0, 0
    end
    counts.characters, counts.requests, counts.changed = counts.characters + characters, counts.requests + 1, true
  end

  local fields = {}

  function tags.write()
    local written = 0
    for i = 1, tags.count do
      local counts = read_counts[i]
      if counts.changed then
        written = written + 2
        fields[written - 1], fields[written] = counts.tag, string.format(COUNTS, counts.day, counts.characters, counts.requests)
      end
      if counts.earlier then
        call('HSET', key_beside('tag_days'), counts.tag, counts.earlier)
      end
    end
    if written == 2 then
      call('HSET', counts_key(), fields[1], fields[2])
    else
      call_in_pieces('HSET', counts_key(), fields, written)
    end
  end
end
