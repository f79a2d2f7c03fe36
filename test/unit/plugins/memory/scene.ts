// A memory with virtual clocks, and the path of a request's texts through it to an engine that is a function of text and options.
import type { Exchange } from '../../../../src/core/exchange.ts';
import { passStages } from '../../../../src/domain/text-stages.ts';
import type { TextWork } from '../../../../src/domain/text-stages.ts';
import { NOTHING_CHOSEN } from '../../../../src/domain/translation-options.ts';
import type { Translation, TranslationOptions } from '../../../../src/domain/translation-options.ts';
import { TextMemory } from '../../../../src/plugins/memory/text-memory.ts';
import type { RedisMemory } from '../../../../src/plugins/memory/redis-memory.ts';
import type { MemoryCounts, ProcessMemory } from '../../../../src/plugins/memory/text-memory.ts';

export const OPTIONS: TranslationOptions = { ...NOTHING_CHOSEN, targetLang: 'DE' };
export const AGE_MAX_MS = 60_000;

interface Asked {
  readonly teamId?: string;
  readonly text: readonly string[];
  readonly options?: TranslationOptions;
  readonly engines?: readonly string[];
  /** By default the first of `engines`. */
  readonly expected?: string;
  /** The engine that answers; by default the expected one. */
  readonly answering?: string;
}

interface Answered {
  /** The texts that were sent to the engine. */
  readonly sent: readonly string[];
  readonly translations: readonly Translation[];
  readonly spared: readonly number[];
}

export interface MemoryScene {
  readonly memory: TextMemory;
  readonly own: ProcessMemory;
  readonly counts: MemoryCounts;
  /** Both clocks. */
  nowMs: number;
  ask(asked: Asked): Promise<Answered>;
}

export function memoryScene({ shared, bytesMax = 2 ** 24 }: { shared?: RedisMemory; bytesMax?: number } = {}): MemoryScene {
  const now = (): number => scene.nowMs;
  const memory = new TextMemory({ bytesMax, shared, ageMaxMs: AGE_MAX_MS, spared: true, now, wallNow: now });
  const scene: MemoryScene = {
    memory,
    own: memory.process,
    counts: memory.counts,
    nowMs: 1_000_000,
    async ask({ teamId = 'T', text, options = OPTIONS, engines = ['default'], expected = engines[0]!, answering = expected }) {
      const x = { startedAtMs: scene.nowMs } as Exchange;
      const work: TextWork = { x, teamId, text, options, engines, expected, detectionOnly: false };
      const passed = await passStages(work, [{ kind: 'answer', plugin: 'memory', run: (one) => memory.answer(one) }]);
      if ('problem' in passed) throw new Error('a memory refuses nothing');
      const sent = passed.work.text;
      const translations = await passed.back(
        sent.map((one) => translated(one, options, answering)),
        sent.length === 0 ? undefined : answering,
      );
      if ('problem' in translations) throw new Error('a memory refuses nothing');
      return { sent, translations, spared: passed.spared };
    },
  };
  return scene;
}

/** The engine's translation of a text: a function of everything that may matter, so that any mix-up shows. */
export function translated(text: string, options: TranslationOptions, engine: string): Translation {
  return {
    text: `${engine}(${JSON.stringify({ ...options, glossary: options.glossary?.id })})${text}`,
    detectedSourceLanguage: options.sourceLang === undefined ? ['EN', 'FR', undefined][text.length % 3] : undefined,
  };
}
