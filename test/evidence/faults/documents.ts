// Documents for a charged forward route, whose upstream answers, refuses, is silent, or dies in the middle of its answer.
import { downloadPiece } from '../../support/upstream.ts';
import { CHARACTERS_MIN } from './caller.ts';
import type { Forwarding } from './caller.ts';
import type { Seeded } from './seeded.ts';

/** Less than any text has. */
export const FORWARD_CHARACTERS = CHARACTERS_MIN - 17;
/** The entry in a configuration, without its target. */
export const FORWARD = {
  path: '/v1/documents/*',
  methods: ['POST'],
  charge_characters: FORWARD_CHARACTERS,
  timeout_ms: 500,
  statuses: { '422': 'validation_error' },
};

/** Beyond what an upstream that dies sends. */
const BYTES_MAX = 200_000;
const DYING_BYTES = 4000;

/** The next document: every kind of answer in turn, cut at a random byte. */
export function documentsOf(random: Seeded): () => Forwarding {
  const bytes = () => random.between(1, BYTES_MAX);
  const dying = () => random.between(0, DYING_BYTES - 1);
  const kinds: readonly (() => readonly [words: string, bytes: number])[] = [
    () => answering('bytes', bytes()),
    () => [`dies/${dying()}`, DYING_BYTES],
    () => answering('chunked', bytes()),
    () => [`status/${random.oneOf([422, 500])}`, 0],
    () => answering('bytes', bytes()),
    () => [`dies-chunked/${dying()}`, DYING_BYTES],
    () => ['empty/0', 0],
    () => [random.oneOf(['silent/0', `stalls/${dying()}`]), DYING_BYTES],
    () => answering('chunked', bytes()),
    () => ['status/422', 0],
  ];
  let turn = 0;
  return () => {
    const [words, length] = kinds[turn++ % kinds.length]!();
    const document = 'd'.repeat(random.between(1, 3000));
    return { path: `/v1/documents/${words}`, characters: FORWARD_CHARACTERS, document, whole: downloadPiece(0, length) };
  };
}

function answering(verb: string, bytes: number): readonly [words: string, bytes: number] {
  return [`${verb}/${bytes}`, bytes];
}
