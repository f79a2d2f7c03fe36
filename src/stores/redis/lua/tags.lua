-- What is charged by tag and day, in the open account: records of the team, `:tag_counts` and `:tag_days`. Formats and rules are
-- those of stores/records/tag-counts.ts. The account's are in `rare.tags`, by tag: `day`, `characters`, `requests`, and `earlier`,
-- the days before, if another day has begun; false for a tag without counts.
--@ uses constants: TAGGED, TAGGED_BYTES, FURTHER_TAGS
--@ uses shared: call, insert, sub, parse, digits, call_in_pieces
--@ uses state: today, rare, key_beside, rarely
--@ gives tags

local tags = {}

do
  local function read(tag)
    local all = rarely('tags')
    if all[tag] == nil then
      local stored, counts = call('HGET', key_beside('tag_counts'), tag), false
      if stored then
        local day, characters, requests = string.match(stored, '^(%d+) (%d+) (%d+)$')
        counts = { tag = tag, day = tonumber(day), characters = tonumber(characters), requests = tonumber(requests) }
      end
      all[tag] = counts
    end
    return all[tag]
  end

  -- How many tags the team has, without the one for further tags.
  local function names()
    local known = rarely('tag_names')
    known.count = known.count or call('HLEN', key_beside('tag_counts')) - (read(FURTHER_TAGS) and 1 or 0)
    return known
  end

  local function counts_of(tag, most)
    local counts = read(tag)
    if counts then
      return counts
    end
    if tag ~= FURTHER_TAGS then
      local known = names()
      if known.count >= most then
        return counts_of(FURTHER_TAGS, most)
      end
      known.count = known.count + 1
    end
    rare.tags[tag] = { tag = tag, day = today, characters = 0, requests = 0 }
    return rare.tags[tag]
  end

  -- Counts a commit of the reservation with this record, which has a tag.
  function tags.charge(record, characters)
    local behind = #record - TAGGED_BYTES
    local _, most, length = parse(TAGGED, record, behind + 1)
    local counts = counts_of(sub(record, behind - length + 1, behind), most)
    if counts.day ~= today then
      local earlier = counts.earlier or call('HGET', key_beside('tag_days'), counts.tag) or ''
      local ended = digits(counts.day) .. ':' .. digits(counts.characters) .. ':' .. digits(counts.requests)
      counts.earlier = earlier == '' and ended or earlier .. ' ' .. ended
      counts.day, counts.characters, counts.requests = today, 0, 0
    end
    counts.characters, counts.requests, counts.changed = counts.characters + characters, counts.requests + 1, true
  end

  function tags.write(all)
    local counted, earlier = {}, {}
    for tag, counts in pairs(all) do
      if counts and counts.changed then
        insert(counted, tag)
        insert(counted, digits(counts.day) .. ' ' .. digits(counts.characters) .. ' ' .. digits(counts.requests))
      end
      if counts and counts.earlier then
        insert(earlier, tag)
        insert(earlier, counts.earlier)
      end
    end
    call_in_pieces('HSET', key_beside('tag_counts'), counted)
    call_in_pieces('HSET', key_beside('tag_days'), earlier)
  end
end
