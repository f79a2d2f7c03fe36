-- Which process sends events, until when, and by which rules events are stored: "<holder> <until> <rules>". KEYS: lease. ARGV:
-- holder, the time or '' for the server's, how long (0 releases it), the rules, how long they are remembered.

local function lease_outbox()
  local key, holder, now, for_ms = key_at(1), text_at(1), tonumber(text_at(2)) or server_ms(), number_at(3)
  local rules, remembered = text_at(4), number_at(5)
  local by, until_ms = string.match(call('GET', key) or '', '^(%S+) (%d+) ')
  local is_ours = by == holder
  if for_ms == 0 and not is_ours or by and not is_ours and tonumber(until_ms) > now then
    return { now, 'held' }
  end
  call('SET', key, holder .. ' ' .. digits(now + for_ms) .. ' ' .. rules, 'PX', digits(for_ms + remembered))
  return { now, 'leased' }
end
