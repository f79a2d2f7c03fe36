-- Finds the teams whose names or ids contain a text. KEYS: searched. ARGV: the first position, how many teams to check at
-- least, the text in lower case, how many are wanted.

local function find_teams()
  local first, count, text, wanted = number_at(1), number_at(2), text_at(3), number_at(4)
  local from, fields, of_id = floor(first / STRETCH), {}, string.upper(text)
  local last = floor((first + count - 1) / STRETCH)
  for stretch = from, last do
    insert(fields, digits(stretch))
  end
  local found = {}
  for i, lines in ipairs(call('HMGET', key_at(1), unpack(fields))) do
    local hits = {}
    if lines and (string.find(lines, text, 1, true) or string.find(lines, of_id, 1, true)) then
      for position, id, name in string.gmatch(lines, '(%d+) (%S+) ([^\n]*)\n') do
        if tonumber(position) >= first and (string.find(name, text, 1, true) or string.find(id, of_id, 1, true)) then
          insert(hits, { position = tonumber(position), id = id })
        end
      end
    end
    -- Sorted, because the line of a team whose name was added late comes after its position.
    table.sort(hits, function(a, b) return a.position < b.position end)
    for _, hit in ipairs(hits) do
      insert(found, hit.id)
    end
    if #found >= wanted then
      last = from + i - 1
      break
    end
  end
  return { 0, 'found', (last + 1) * STRETCH, found }
end
