-- The index for searches by a part of a name: a hash whose fields each hold the lines `<place> <id> <name in lower case>` of this
-- many teams, by their places in the list of all teams. One string.find over a field's text rules out all of its teams; a look at
-- each team would cost twenty times as much.

local STRETCH = 250
