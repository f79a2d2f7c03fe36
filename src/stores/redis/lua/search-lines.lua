-- What a search by a part of a name goes through: a hash of stretches, each the lines `<place> <id> <name in lower case>` of
-- this many teams, by their places in the list of all teams. A stretch without a hit is done with in a single look, where a
-- look at each of its teams costs twenty times as much.

local STRETCH = 250
