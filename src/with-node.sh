#!/bin/sh
# How npm scripts start Node: this machine's own if `engines` allows it, otherwise the one that `npm ci` has installed here.
# npm puts the latter first in PATH in any case, so the right one is put in front, also for everything that is started.
node=$("${npm_node_execpath:-node}" src/supported-node.js "$PWD/node_modules/node/bin/node") || exit
PATH="${node%/*}:$PATH"
export PATH
exec "$node" "$@"
