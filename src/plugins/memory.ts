// The plugin `lingate/plugins/memory`: a text that was translated before, for the same team with
// the same options, needs no engine.
import { performance } from 'node:perf_hooks';
import Type from 'typebox';
import { definePlugin, nextTurn } from 'lingate';
import type { PluginFigure, PluginMetric } from 'lingate';
import { TextMemory } from './memory/text-memory.ts';
import { RedisMemory } from './memory/redis-memory.ts';
import type { MemoryCounts } from './memory/text-memory.ts';

const DROP_EVERY_MS = 60_000;
const AWAY_WARNING_EVERY_MS = 60_000;

export default definePlugin({
  name: 'memory',
  options: Type.Object(
    {
      bytes: Type.Integer({ minimum: 1_048_576, maximum: 2 ** 36, default: 268_435_456 }),
      seconds: Type.Integer({ minimum: 1, maximum: 31_536_000, default: 604_800 }),
      store: Type.Union([Type.String(), Type.Object({ env: Type.String() }, { additionalProperties: false })], { default: 'process' }),
      // With what the process itself takes, a look-up stays below 20 ms.
      look_up_ms: Type.Integer({ minimum: 1, maximum: 10_000, default: 15 }),
      charge: Type.Union([Type.Literal('full'), Type.Literal('none')], { default: 'full' }),
    },
    { additionalProperties: false },
  ),
  setup(options, host) {
    const now = (): number => performance.now();
    const ageMaxMs = options.seconds * 1000;
    const url = redisUrlOf(options.store);
    const shared =
      url === undefined
        ? undefined
        : new RedisMemory({
            url,
            ageMaxMs,
            lookUpMs: options.look_up_ms,
            now,
            onAway: warning((message, fields) => host.warn(message, fields), now),
          });
    const spared = options.charge === 'none';
    const memory = new TextMemory({ bytesMax: options.bytes, shared, ageMaxMs, spared, now, wallNow: () => Date.now() });
    const dropping = setInterval(() => void memory.process.dropUntil(now() - ageMaxMs, nextTurn), DROP_EVERY_MS).unref();
    return {
      answers: (work) => memory.answer(work),
      async forget(teamId) {
        await memory.forget(teamId, nextTurn);
        return shared?.forget(teamId);
      },
      metrics: metricsOf(memory),
      figures: () => figuresOf(memory.counts),
      close() {
        clearInterval(dropping);
        shared?.close();
      },
    };
  },
});

function metricsOf({ counts, process: own }: TextMemory): readonly PluginMetric[] {
  return [
    {
      name: 'texts_total',
      help: 'Texts by whether their translation was remembered; unavailable: not in the process, and Redis is away.',
      kind: 'counter',
      label: 'outcome',
      read: () => counts.texts,
    },
    {
      name: 'saved_characters_total',
      help: 'Characters of texts for which no engine was asked.',
      kind: 'counter',
      read: () => counts.saved,
    },
    {
      name: 'bytes',
      help: 'Bytes of the entries cached in the process.',
      kind: 'gauge',
      read: () => own.bytes,
    },
    { name: 'entries', help: 'Texts that the process remembers.', kind: 'gauge', read: () => own.texts },
  ];
}

function figuresOf({ texts, saved }: MemoryCounts): readonly PluginFigure[] {
  const { hit, miss, unavailable } = texts;
  return [
    { name: 'texts remembered', part: hit, whole: hit + miss + unavailable },
    { name: 'characters saved', count: saved },
  ];
}

/** `undefined`: the process's own. Faults are named without the URL, which may hold a password. */
function redisUrlOf(store: string | { readonly env: string }): string | undefined {
  const url = typeof store === 'string' ? store : process.env[store.env];
  if (url === 'process') return undefined;
  if (url !== undefined && /^rediss?:\/\/[^/?#]/.test(url) && URL.canParse(url)) return url;
  const given = typeof store === 'string' ? 'options.store' : `options.store: the environment variable ${store.env}`;
  throw new Error(`${given} must be process, or a URL redis://[USER:PASSWORD@]HOST:PORT[/DB], with rediss:// for TLS`);
}

/** One line in a while: requests go on without it. */
function warning(warn: (message: string, fields: { cause: string }) => void, now: () => number): (cause: string) => void {
  let warnedAtMs = -Infinity;
  return (cause) => {
    if (now() - warnedAtMs < AWAY_WARNING_EVERY_MS) return;
    warnedAtMs = now();
    warn('the memory in Redis is away or takes nothing: what is not known here goes to the engine', { cause });
  };
}
