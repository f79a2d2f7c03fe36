// No response field can end its line: whatever a bug puts into one, the answer is refused rather than split.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Exchange, NO_CALLER } from '../../../src/core/exchange.ts';
import { json, refuse } from '../../../src/index.ts';
import type { Refusal, Reply } from '../../../src/core/outcome.ts';
import { ProblemWriter } from '../../../src/core/problem-writer.ts';
import { compileRoute } from '../../../src/core/route.ts';
import { compose, fieldsOf } from '../../../src/server/messages.ts';
import { draws } from '../../support/seed.ts';

const problems = new ProblemWriter('http://docs.test', 'test');
const route = compileRoute({ method: 'GET', path: '/', takesBody: false, steps: [] });
const SAFE_VALUE = /^[\t\x20-\x7e]*$/;
const SAFE_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

const exchange = (): Exchange =>
  new Exchange('01ARZ3NDEKTSV4RRFFQ69G5FAV', { method: 'GET', path: '/', query: '', headers: {} }, NO_CALLER, route, 0);

/** Mostly what breaks lines, and look-alikes. */
const nasty = fc.oneof(
  fc.string({ unit: fc.constantFrom('\r', '\n', '\0', '\u2028', '\u010d', '\u010a', 'a', ':', ' ', '\t', 'é', '\x7f'), maxLength: 12 }),
  fc.string(),
);

test('a field of an outcome or of the exchange is either safe or prevents the answer', () => {
  fc.assert(
    fc.property(nasty, nasty, fc.constantFrom('reply', 'problem', 'exchange', 'content type'), (name, value, where) => {
      const x = exchange();
      const fields = [[name, value]] as const;
      if (where === 'exchange') x.responseHeaders = fields;
      const outcome =
        where === 'problem'
          ? refuse('not_found', 'x', undefined, fields)
          : where === 'content type'
            ? { ...json('{}'), contentType: value }
            : json('{}', 200, where === 'reply' ? fields : []);
      const safe = where === 'content type' ? SAFE_VALUE.test(value) : SAFE_NAME.test(name) && SAFE_VALUE.test(value);
      expect(sent(outcome, x)).toBe(safe ? 'safe fields' : 'nothing');
    }),
    { numRuns: draws(500) },
  );
});

/** What would be sent. */
function sent(outcome: Reply | Refusal, x: Exchange): 'safe fields' | 'unsafe fields' | 'nothing' {
  let fields;
  try {
    fields = fieldsOf(compose(outcome, x, problems));
  } catch {
    return 'nothing';
  }
  return fields.every(([name, value]) => SAFE_NAME.test(name) && SAFE_VALUE.test(value)) ? 'safe fields' : 'unsafe fields';
}
