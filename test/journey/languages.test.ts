// GET /v1/languages over real sockets: both lists, and the rules of `type`; on both listeners and stores.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { LanguagesAnswer } from '../support/door/tables.ts';
import { ask, expectAnswer, expectProblem, onEveryGateway, oneTeam } from '../support/every-gateway.ts';

interface Listed {
  readonly language: string;
  readonly name: string;
  readonly supports_formality?: boolean;
}

const file = parse(readFileSync(new URL('../../config/languages.yaml', import.meta.url), 'utf8')) as {
  sources: { code: string; name: string }[];
  targets: { code: string; name: string; formality?: boolean }[];
};
const SOURCES = 'AR BG CS DA DE EL EN ES ET FI FR GA HE HR HU ID IT JA KO LT LV MT NB NL PL PT RO RU SK SL SV TH TR UK VI ZH'.split(' ');
const TARGETS = [...SOURCES.filter((code) => code !== 'EN' && code !== 'PT'), 'EN-GB', 'EN-US', 'PT-BR', 'PT-PT'];
const FORMAL = 'DE ES FR IT JA NL PL PT-BR PT-PT RU'.split(' ');

onEveryGateway({}, (setting) => {
  const team = oneTeam(setting);

  const list = async (query: string): Promise<Listed[]> => {
    const response = await ask(setting, { path: `/v1/languages${query}`, key: team.key });
    return expectAnswer(response, LanguagesAnswer) as unknown as Listed[];
  };

  test.each(['', '?', '?type=source', '?type=%73ource'])('"%s" lists the 36 sources, without formality', async (query) => {
    const languages = await list(query);
    expect(languages.map(({ language }) => language).toSorted()).toEqual(SOURCES.toSorted());
    expect(languages).toEqual(file.sources.map(({ code, name }) => ({ language: code, name })));
  });

  test('type=target lists the 38 targets, each with whether formality has an effect', async () => {
    const languages = await list('?type=target');
    expect(languages.map(({ language }) => language).toSorted()).toEqual(TARGETS.toSorted());
    expect(languages.map(({ language, name }) => ({ code: language, name }))).toEqual(
      file.targets.map(({ code, name }) => ({ code, name })),
    );
    const formal = languages.filter((one) => one.supports_formality === true).map(({ language }) => language);
    expect(formal.toSorted()).toEqual(FORMAL.toSorted());
    expect(languages.every((one) => typeof one.supports_formality === 'boolean')).toBe(true);
  });

  test.each(['?type=', '?type=targets', '?type=TARGET', '?type=target%20', '?type=source,target'])(
    '%s is refused: there are lists only for source and target',
    async (query) => {
      const response = await ask(setting, { path: `/v1/languages${query}`, key: team.key });
      expect(expectProblem(response, 'validation_error')).toMatch(/^type: must be source or target/);
    },
  );

  test.each(['?typ=target', '?type=target&type=target', '?type=target&limit=1', '?target', '?Type=target'])(
    '%s is refused, so a mistyped parameter never returns the wrong list',
    async (query) => {
      const response = await ask(setting, { path: `/v1/languages${query}`, key: team.key });
      expect(expectProblem(response, 'validation_error')).toMatch(/^Unknown query parameter/);
    },
  );
});
