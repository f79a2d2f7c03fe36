-- Makes the functions of `timed` callable: each is called with the time, and not at all after its deadline.
--@ uses library: functions, timed
--@ uses shared: read_clock

for name, work in pairs(timed) do
  functions[name] = function()
    local now, late = read_clock()
    return late and { now, 'late' } or work(now)
  end
end
