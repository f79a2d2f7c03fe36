// What is assumed of protocols, and what several engines can do together.
import { expect, test } from 'vitest';
import { anyOf, capabilitiesOf } from '../../../src/domain/engine-capabilities.ts';
import { ABLE, UNABLE } from '../../support/offers.ts';

test('what a protocol declares holds, and the rest is assumed', () => {
  const assumed = capabilitiesOf();
  expect(assumed).toMatchObject({ textsMax: Infinity, formats: ['text'], formality: true, instructions: false, styles: false });
  expect(capabilitiesOf({ formality: false, styles: true })).toEqual({ ...assumed, formality: false, styles: true });
});

test('several engines can do together what at least one of them can', () => {
  for (const name of Object.keys(ABLE).filter((one) => ABLE[one as keyof typeof ABLE] === true)) {
    expect([name, anyOf([UNABLE, { ...UNABLE, [name]: true }])]).toEqual([name, { ...UNABLE, [name]: true }]);
  }
  const [few, many] = [
    capabilitiesOf({ textsMax: 1, formats: ['text', 'xml'] }),
    capabilitiesOf({ textsMax: 50, formats: ['text', 'html'] }),
  ];
  expect(anyOf([few, many])).toMatchObject({ textsMax: 50, formats: ['text', 'xml', 'html'] });
});
