// What an id in an answer says about whose answer it is.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answeredId, furtherCallId, laterWorkId } from '../../../src/domain/request-id.ts';
import { ulidSource } from '../../../src/domain/ulid.ts';

const newId = ulidSource(() => 1_764_000_000_000);
const SENT = newId();
const OTHER = newId();

test('the ids of all calls of all requests are told apart', () => {
  const works = [SENT, OTHER].flatMap((id) => [id, laterWorkId(id, 2), laterWorkId(id, 150)]);
  const ids = works.flatMap((id) => [
    id,
    ...([1, 2] as const).flatMap((attempt) => [2, 50, 1000].map((n) => furtherCallId(id, attempt, n))),
  ]);
  for (const sent of ids) for (const id of ids) expect(answeredId(id, sent)).toBe(id === sent ? 'ours' : 'foreign');
});

test.each([
  [OTHER.toLowerCase(), 'foreign'],
  [SENT.toLowerCase(), 'ours'],
  [`req_1, ${SENT}`, 'ours'],
  [`${SENT},${OTHER}`, 'foreign'],
  [` ${OTHER} `, 'foreign'],
  [`${OTHER}-2-1-2-1`, 'own'],
  [`${OTHER}-1-`, 'own'],
  [`${OTHER}0`, 'own'],
  [OTHER.slice(1), 'own'],
  ['', 'own'],
  ['0'.repeat(128), 'own'],
  [`${SENT},${'0'.repeat(128)}`, 'own'],
])('%j says: %s', (value, said) => {
  expect(answeredId(value, SENT)).toBe(said);
});

test('if no id was sent, none is ours', () => {
  expect(['', 'a', OTHER].map((value) => answeredId(value, ''))).toEqual(['own', 'own', 'foreign']);
});

test("a server's UUIDs, numbers and prefixed ids say nothing", () => {
  const own = fc.oneof(
    fc.uuid(),
    fc.nat().map(String),
    fc.base64String({ minLength: 8, maxLength: 24 }).map((id) => `req_${id}`),
  );
  fc.assert(fc.property(own, (id) => answeredId(id, SENT) === 'own'));
});
