// Reasons that operators give: which are recorded, and which are refused.
import { expect, test } from 'vitest';
import { judgeReason, REASON_CHARACTERS_MAX } from '../../../src/domain/record-name.ts';

const LONGEST = '€'.repeat(REASON_CHARACTERS_MAX);

test.each([
  ['  invoice 1042 “paid twice”  ', { text: 'invoice 1042 “paid twice”' }],
  [LONGEST, { text: LONGEST }],
  [`${LONGEST}€`, { fault: `is too long; it may have at most ${REASON_CHARACTERS_MAX} characters` }],
  ['', { fault: 'is blank; say why' }],
  [' \t', { fault: 'is blank; say why' }],
  ['two\nlines', { fault: 'holds a control character; use printable characters only' }],
  ['turned \u202Earound', { fault: 'holds a control character; use printable characters only' }],
  [`la_live_${'a'.repeat(40)} was leaked`, { fault: 'holds a key; leave it out' }],
  ['la_live_Ab3d was leaked', { text: 'la_live_Ab3d was leaked' }],
])('%j', (value, judged) => {
  expect(judgeReason(value)).toEqual(judged);
});
