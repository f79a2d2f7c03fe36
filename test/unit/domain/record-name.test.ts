// Reasons that operators give: which are recorded, and which are refused.
import { expect, test } from 'vitest';
import { judgeReason, REASON_CHARACTERS_MAX } from '../../../src/domain/record-name.ts';

const LONGEST = '€'.repeat(REASON_CHARACTERS_MAX);

const HIDDEN = { fault: 'holds an invisible character; use printable characters only' };

test.each<[string, { readonly text: string } | { readonly fault: string }]>([
  ['  invoice 1042 “paid twice”  ', { text: 'invoice 1042 “paid twice”' }],
  [LONGEST, { text: LONGEST }],
  [`${LONGEST}€`, { fault: `is too long; it may have at most ${REASON_CHARACTERS_MAX} characters` }],
  ['', { fault: 'is blank; say why' }],
  [' \t', { fault: 'is blank; say why' }],
  ['two\nlines', { fault: 'holds a control character; use printable characters only' }],
  ['not \u202Eseen', HIDDEN],
  ['not \u2069seen', HIDDEN],
  ['not \u200Bseen', HIDDEN],
  ['not \u2060seen', HIDDEN],
  ['not \uFEFFseen', HIDDEN],
  ['नी\u200Cम \u{1F469}\u200D\u{1F680}', { text: 'नी\u200Cम \u{1F469}\u200D\u{1F680}' }],
  [`la_live_${'a'.repeat(40)} was leaked`, { fault: 'holds a key; leave it out' }],
  ['la_live_Ab3d was leaked', { text: 'la_live_Ab3d was leaked' }],
])('%j', (value, judged) => {
  expect(judgeReason(value)).toEqual(judged);
});
