// Problem documents: whatever a detail or a member contains, the document parses and says exactly that.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ProblemWriter } from '../../../src/core/problem-writer.ts';
import { problems } from '../../../src/core/problem.ts';
import type { ProblemCode } from '../../../src/core/problem.ts';
import { shownWord } from '../../../src/domain/caller-words.ts';
import { anyText } from './near-misses.ts';
import { NASTY_STRINGS } from './nasty-strings.ts';

const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const writer = new ProblemWriter({ docsUrl: 'https://docs.test', realm: 'test' });
const words = fc.oneof(anyText, fc.constantFrom(...NASTY_STRINGS));

test('every code with any detail and any members is JSON that contains them', () => {
  const codes = fc.constantFrom(...(Object.keys(problems) as ProblemCode[]));
  const members = fc.dictionary(fc.stringMatching(/^[a-z_]{1,20}$/), fc.oneof(words, fc.integer()), { noNullPrototype: true });
  fc.assert(
    fc.property(codes, words, members, (code, detail, fields) => {
      const { status, body } = writer.render({ code, kind: problems[code], detail, fields, headers: [] }, ID);
      const { title } = problems[code];
      const type = `https://docs.test/errors#${code.replaceAll('_', '-')}`;
      // A member may not replace another one: ours come first, and in JSON the last one wins.
      fc.pre(Object.keys(fields).every((name) => !['type', 'title', 'status', 'code', 'detail', 'request_id'].includes(name)));
      expect(JSON.parse(body)).toEqual({ type, title, status, code, detail, request_id: ID, ...fields });
    }),
    { numRuns: 2000 },
  );
});

test('a caller’s word in a detail is short, on one line, and contains nothing that a terminal would interpret', () => {
  fc.assert(
    fc.property(words, (word) => {
      const shown = shownWord(word);
      expect(Array.from(shown).length).toBeLessThanOrEqual(41);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
    { numRuns: 2000 },
  );
});
