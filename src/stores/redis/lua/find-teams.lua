-- Which of a stretch of the list of all teams hold a text in their names or ids.
-- KEYS: teams, names. ARGV: how many teams stand before the stretch, how many it has, the text in lower case.

local function find_teams()
  local first, count, text = number_at(1), number_at(2), text_at(3)
  local ids = call('ZRANGE', key_at(1), first, first + count - 1)
  local found = {}
  if #ids > 0 then
    local names = call('HMGET', key_at(2), unpack(ids))
    for i, id in ipairs(ids) do
      if string.find(names[i] or '', text, 1, true) or string.find(string.lower(id), text, 1, true) then
        insert(found, id)
      end
    end
  end
  return { 0, 'found', #ids, found }
end
