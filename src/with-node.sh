#!/bin/sh
# How npm scripts start Node: this machine's own where `engines` allows it, otherwise the one that `npm ci` has installed here.
# npm puts the latter first in the PATH of scripts whatever the machine has; so the right one goes in front, for all that is started.
node=$("${npm_node_execpath:-node}" src/supported-node.js "$PWD/node_modules/node/bin/node") || exit
PATH="${node%/*}:$PATH"
export PATH
exec "$node" "$@"
