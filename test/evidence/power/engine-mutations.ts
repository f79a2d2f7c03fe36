// Planted bugs in calls to engines and upstreams: mixed-up answers, unfair turns, and bodies without a deadline.
import type { Mutation, TestRun } from './mutation.ts';

const CAPS: TestRun = { file: 'test/unit/stores/contract.test.ts', names: 'the SQLite store.*what engines with a limit have used' };
const UNASKED: TestRun = { file: 'test/unit/engines/http1/unasked.test.ts' };
const KEPT_GLOSSARIES: TestRun = { file: 'test/unit/engines/protocols/deepl-glossaries.test.ts' };
const TURNS: TestRun = { file: 'test/unit/engines/http1/team-turns.test.ts' };
const KEPT: TestRun = { file: 'test/unit/forward/kept-connections.test.ts' };
const BOUNDS: TestRun = { file: 'test/unit/engines/answer-bounds.test.ts' };
const PATHS: TestRun = { file: 'test/unit/core/plain-path.test.ts' };
const BODY: TestRun = { file: 'test/unit/server/incoming-body.test.ts' };
const STREAMING: TestRun = { file: 'test/unit/server/streaming.test.ts', names: 'trickles in' };

function bug(name: string, where: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name, edits: [{ where, find, replace }], caughtBy };
}

export const ENGINE_MUTATIONS: readonly Mutation[] = [
  bug(
    'what is reported twice to an engine with a limit counts twice',
    'added in record-engine-use.ts',
    'report > last ? sum + counted : sum',
    'sum + counted',
    CAPS,
  ),
  bug(
    'what a process that stopped has sent to an engine is forgotten',
    'added in record-engine-use.ts',
    'characters: base.characters + quiet.reduce(',
    'characters: base.characters + 0 * quiet.reduce(',
    CAPS,
  ),
  bug(
    'what was sent since the last report does not count for an engine with a limit',
    'EngineCaps.isSpent',
    'known + unreported +',
    'known +',
    {
      file: 'test/unit/runtime/engine-caps.test.ts',
    },
  ),
  bug('an engine that has used up its characters still gets requests', 'unspent', 'names.filter((name) => !isSpent(name))', '[...names]', {
    file: 'test/journey/engine-caps.test.ts',
  }),
  bug(
    'an answer may be as long as the maximum, whatever was asked',
    'Pool.responseBytesFor',
    'return bodyBytes === 0 ? responseBytesMax :',
    'return bodyBytes >= 0 ? responseBytesMax :',
    BOUNDS,
  ),
  bug(
    'answers are parsed whatever they hold',
    'parseJson',
    "if (jsonFault(bytes, text, bounds) !== undefined) return 'too_large';",
    '',
    BOUNDS,
  ),
  bug(
    "a model's text is parsed whatever it holds",
    'parsed',
    'if (jsonFault(Buffer.from(json), json) !== undefined) return undefined;',
    '',
    BOUNDS,
  ),
  bug('an attempt without a kind is an attempt', 'RunningAttempt.#conclude', 'checkForm(attempt);', '', {
    file: 'test/unit/engines/bounds.test.ts',
  }),
  bug('a step that returns nonsense is never answered', 'Pipeline.#finish', 'default:\n        this.#malformed(x);', 'default:', {
    file: 'test/unit/core/pipeline.test.ts',
  }),
  bug(
    'a format is judged by what any engine can do',
    'EngineOffer.canFor',
    "return typeof left === 'object' ? left.can : this.can;",
    'return left === undefined ? this.can : this.can;',
    {
      file: 'test/journey/refused-alike.test.ts',
    },
  ),
  bug(
    'a team’s dictionaries at an engine are told by content alone',
    'named in deepl-entries.ts',
    '`lingate ${teamId} ${source}-${target} ${digest}`',
    '`lingate ${"0".repeat(26)} ${source}-${target} ${digest}`',
    KEPT_GLOSSARIES,
  ),
  bug(
    'of two dictionaries made at the same time, both stay',
    'KeptGlossaries.#findOrMake',
    'for (const { id } of others) await this.#remove(id, wire);',
    '',
    KEPT_GLOSSARIES,
  ),
  bug(
    'a dictionary made for a team that was just deleted stays',
    'KeptGlossaries.#findOrMake',
    "if (this.#forgotten.has(teamInName(name) ?? '')) {\n      await",
    'if (name === chosen.id) {\n      await',
    KEPT_GLOSSARIES,
  ),
  bug("another request's id says nothing", 'answeredId', "else if (OURS.test(id)) return 'foreign';", '', UNASKED),
  bug('the state of distrust ends no connection', 'Pool.onUnasked', 'this.idle.endAll();', '', UNASKED),
  bug(
    'calls on used connections go on',
    'Pool.onUnasked',
    'if (client !== from && client.busyAgain) client.distrust();',
    'if (client !== from && client.busyAgain) continue;',
    UNASKED,
  ),
  bug(
    'an answer with another behind it counts anywhere',
    'Client.#completed',
    'if (early || (this.#used && response.echoedId !== true)) {',
    'if (early) {',
    UNASKED,
  ),
  bug(
    'a team may have all while others are there',
    'TeamTurns.admits',
    'return lane.inFlight < this.#shareMax ||',
    'return true ||',
    TURNS,
  ),
  bug('calls are taken as they came', 'TeamTurns.next', 'if (this.#queue.delete(lane)) this.#queue.add(lane);', '', TURNS),
  bug('kept upstream connections are not watched', 'KeptConnections.#keptOf', "socket.on('data', look).on('close', look);", '', KEPT),
  bug(
    'forward: ids in trailers are not looked at',
    'ProxyCall.#faultOf',
    "if (this.#refusesIdIn(message.rawTrailers)) return 'foreign_id';",
    '',
    KEPT,
  ),
  bug('escapes are decoded once', 'isPlainPath', 'if (next === decoded) return true;', 'return true;', PATHS),
  bug(
    'uWebSockets.js is given long bodies',
    'longBodies',
    'if (long.length === 0) return undefined;',
    'if (long.length >= 0) return undefined;',
    { file: 'test/unit/cli/process.test.ts', names: 'long bodies' },
  ),
  bug('`listener: uws` takes long bodies', 'longBodyFaults', "if (listener !== 'uws') return [];", 'return [];', {
    file: 'test/unit/config/forward.test.ts',
  }),
  bug(
    'a body that waits is held however long it is',
    'IncomingBody.#hold',
    'if (this.#receivedBytes <= bodyBytesMax) {',
    'if (true) {',
    BODY,
  ),
  bug('a body that its upstream takes too slowly was broken', 'IncomingBody.#expire', "this.#fail('late');", "this.#fail('broken');", BODY),
  bug(
    'a late body is its upstream’s fault',
    'ProxyCall.#expire',
    "this.#finish(awaitsBody ? { kind: 'too_slow' } :",
    'this.#finish(',
    KEPT,
  ),
  bug(
    'every upstream gets bodies on used connections',
    'KeptConnections.agentForBody',
    'if (this.#repeatsIds !== true) return undefined;',
    '',
    KEPT,
  ),
  bug('an answer without an id counts after a body', 'KeptConnections.vouchesFor', 'kept.hadBody && !repeatsId;', 'false;', KEPT),
  bug(
    'bodies are sent on connections however long idle',
    'KeptConnections.agentForBody',
    'if ((this.#kept.get(socket)?.idleSinceMs ?? Infinity) < oldestMs) socket.destroy();',
    'void [socket, oldestMs];',
    KEPT,
  ),
  bug('a streamed body has no deadline', 'IncomingBody.#expire', 'else this.#connection.bodySilent();\n  }', '\n  }', STREAMING),
];
