// A piece of work whose texts a plugin's stage answers in part.
import { describe, expect, test } from 'vitest';
import { chargedCharacters } from '../../../../src/domain/charge.ts';
import { NO_STATS } from '../../../../src/domain/slots.ts';
import { Languages } from '../../../../src/domain/languages.ts';
import type { TextStage } from '../../../../src/domain/text-stages.ts';
import { NOTHING_CHOSEN } from '../../../../src/domain/translation-options.ts';
import { translateBy } from '../../../../src/steps/translate-for-plugins.ts';
import { offersOver } from '../../../support/offers.ts';

import { exchange } from '../exchange.ts';

describe('texts that a stage knows and spares', () => {
  const known = { text: 'Welt', detectedSourceLanguage: undefined };
  const options = { ...NOTHING_CHOSEN, targetLang: 'DE', sourceLang: 'EN' };
  const table = { sources: [{ code: 'EN', name: 'English' }], targets: [{ code: 'DE', name: 'German', formality: false }] };

  async function knowing(canSpare: boolean, failing = false) {
    const x = exchange({ ...NO_STATS, characters: 15, canSpare });
    const spare: TextStage = { kind: 'answer', plugin: 't', run: () => ({ translations: [undefined, known, known], spared: true }) };
    const translate = translateBy({
      engine: {
        translate: (asked) =>
          asked.answered(
            failing
              ? { kind: 'unavailable', failures: ['connect', 'connect'] }
              : { kind: 'usable', translations: [{ text: 'Hallo', detectedSourceLanguage: undefined }], failures: [], engine: 'default' },
          ),
        close: () => Promise.resolve(),
      },
      glossaries: { dictionary: () => undefined, merged: async () => undefined },
      offers: { current: offersOver(new Languages(table)) },
      stages: [spare],
      takesGlossary: () => true,
      now: () => 0,
      onFailures: () => undefined,
    });
    // A character outside the basic plane counts once.
    return { told: await translate(x, { text: ['Hello', 'World', '\u{1f30d}'], options, glossaryId: undefined }), x };
  }

  test('are marked, and their characters are subtracted from the charge', async () => {
    const { told, x } = await knowing(true);
    expect(told).toMatchObject({ kind: 'translated', translations: [{ text: 'Hallo' }, { isSpared: true }, { isSpared: true }] });
    expect(told).not.toMatchObject({ translations: [{ isSpared: true }, {}, {}] });
    expect(chargedCharacters(x)).toBe(9);
  });

  test('are not spared if nothing was reserved', async () => {
    const { told, x } = await knowing(false);
    expect(JSON.stringify(told)).not.toContain('isSpared');
    expect(chargedCharacters(x)).toBe(15);
  });

  test('do not help if the rest fails', async () => {
    expect((await knowing(true, true)).told).toMatchObject({ problem: { code: 'engine_unavailable' } });
  });
});
