-- The index for searches by a part of a name: each field of the hash has the lines `<position> <id> <lower-case name>` of this
-- many teams, by position in the list of all teams. A single string.find over a field rules out all of its teams; checking each
-- team would cost twenty times as much.

local STRETCH = 250
