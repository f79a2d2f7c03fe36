// Answers with a validator: who has one gets a 304, by RFC 9110's weak comparison; anything else gets the whole answer.
import { expect, test } from 'vitest';
import { json } from '../../../src/core/outcome.ts';
import { unlessKnown, validated } from '../../../src/core/validated-reply.ts';

const answer = validated(json('{"a":1}'));
const { tag } = answer;

test.each([
  [undefined, 200],
  ['', 200],
  [tag, 304],
  [`W/${tag}`, 304],
  [`"other", ${tag}`, 304],
  ['*', 304],
  ['"other"', 200],
  [tag.slice(1, -1), 200],
  [`"${tag.slice(1, -2)}"`, 200],
])('If-None-Match: %s is a %i', (known, status) => {
  const reply = unlessKnown(answer, known);
  expect(reply).toMatchObject({ status, headers: [['ETag', tag]] });
  expect([reply.contentType, String(reply.body)]).toEqual(status === 304 ? [undefined, ''] : ['application/json', '{"a":1}']);
});

test('the validator is that of the body', () => {
  expect(tag).toMatch(/^"[\w-]{22}"$/);
  expect(validated(json('{"a":1}')).tag).toBe(tag);
  expect(validated(json('{"a":2}')).tag).not.toBe(tag);
});
