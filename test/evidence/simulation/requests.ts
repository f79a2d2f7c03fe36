// What callers send: mostly good requests, with characters from all over Unicode; some that break a rule.
import type { RequestHead } from '../../../src/core/exchange.ts';
import { Languages } from '../../../src/domain/languages.ts';
import type { Intent } from './history.ts';
import type { Random } from './random.ts';
import type { SentTag } from './tags.ts';

export const LANGUAGES = new Languages({
  sources: [{ code: 'EN', name: 'English' }],
  targets: [{ code: 'DE', name: 'German', formality: true }],
});

/** One to four UTF-8 bytes; the last ones are two UTF-16 units each. */
const CHARACTERS = Array.from('aZ 9é߀中語𝄞😀🏳');
const ENCODER = new TextEncoder();

export type SentBody = Uint8Array | 'none' | 'too_large' | 'broken' | 'never';

export interface DrawnRequest {
  readonly head: RequestHead;
  readonly body: SentBody;
  readonly intent: Intent;
}

/** Who sends it: `keyId` is that of the key, if it has one. */
interface Sender {
  readonly key: string;
  readonly keyId: string | undefined;
  readonly address: string;
  readonly tag: SentTag | undefined;
}

export function drawRequest(random: Random, { key, keyId, address, tag }: Sender): DrawnRequest {
  const field: Record<string, string> = tag === undefined ? {} : { 'lingate-tag': tag.field };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...field };
  const sender = { keyId, address, tag: tag?.name ?? undefined };
  const isRefused = tag?.name === null;
  if (random.chance(0.1)) {
    const intent: Intent = { route: 'languages', characters: undefined, ...sender };
    return { head: { method: 'GET', path: '/v1/languages', query: 'type=target', headers }, body: 'none', intent };
  }
  const head: RequestHead = { method: 'POST', path: '/v1/translate', query: '', headers };
  const text = drawText(random);
  const characters = text.reduce((total, entry) => total + Array.from(entry).length, 0);
  const broken: Intent = { route: 'translate', characters: undefined, ...sender };
  const valid: Intent = isRefused ? broken : { ...broken, characters, text };
  if (random.chance(0.85)) return { head, body: encode({ text, target_lang: 'de' }), intent: valid };
  const body = random.pick<SentBody>([
    encode({ text, target_lang: 'XX' }),
    encode({ text: [...text, ''], target_lang: 'DE' }),
    encode({ text, target_lang: 'DE', tonality: 'mild' }),
    ENCODER.encode('{"text":'),
    'none',
    'too_large',
    'broken',
    'never',
  ]);
  return { head, body, intent: broken };
}

function drawText(random: Random): string[] {
  return Array.from({ length: random.pick([1, 1, 1, 2, 5]) }, () => {
    const length = random.pick([1, 3, 10, 10, 30]);
    return Array.from({ length }, () => random.pick(CHARACTERS)).join('');
  });
}

function encode(value: unknown): Uint8Array {
  return ENCODER.encode(JSON.stringify(value));
}
