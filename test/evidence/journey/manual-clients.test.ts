// The manual's examples for clients of other APIs, unchanged: commands of a shell, and programs in Node, Python and Ruby. Only the
// gateway's address and the key are replaced.
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { onOneGateway, oneTeam } from '../../support/every-gateway.ts';
import type { Setting } from '../../support/every-gateway.ts';
import { codeBlocks, manualPage, manualSection } from '../../support/manual.ts';
import { outputOf } from '../../support/start-program.ts';
import type { Startable } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8080';
const ENDPOINT = 'GOOGLE_CLOUD_TRANSLATE_ENDPOINT';
const { folder } = startedUntil(afterAll);
symlinkSync(MODULES, join(folder, 'node_modules'));

/** What a reader types, with the key of a team of this gateway. */
function readerOf(setting: Setting) {
  const team = oneTeam(setting);
  const here = (text: string): string => {
    expect(text).toContain(ADDRESS);
    return text.replaceAll(ADDRESS, `http://127.0.0.1:${setting.gateway.port}`);
  };
  const env = (more: object = {}) => ({ ...process.env, LINGATE_KEY: team.key, ...more });
  return {
    teamId: () => team.teamId,
    /** The JSON that a command prints. */
    typed: async (line: string): Promise<unknown> => JSON.parse(await outputOf('sh', ['-c', here(line)], { env: env(), uses: ['curl'] })),
    /** The output of a program; its only argument is a file with these lines. */
    run: async (program: Startable, file: string, lines: string, more: object = {}): Promise<string> => {
      writeFileSync(join(folder, file), lines.replaceAll(ADDRESS, here(ADDRESS)));
      return (await outputOf(program, [file], { cwd: folder, env: env(more) })).trimEnd();
    },
  };
}

/** The code blocks in the manual's section on a client. */
const linesOf = (page: string, section: string, language: string): string[] => codeBlocks(manualSection(page, section), language);

/** Each command of the page, by its heading. */
const COMMANDS = manualPage('libretranslate-api')
  .split(/^(?=#{1,2} )/m)
  .flatMap((part) => {
    const heading = /^#{1,2} (.+)$/m.exec(part)![1]!;
    const commands = codeBlocks(part, 'sh').flatMap((block) => block.trimEnd().split(/(?<!\\)\n/));
    return commands.map((command) => ({ heading, command }));
  });

const ANSWERS: Readonly<Record<string, readonly unknown[]>> = {
  "Clients of LibreTranslate's API": [{ translatedText: '[DE] Hello, world!' }],
  Weblate: [
    expect.arrayContaining([expect.objectContaining({ code: 'en', name: 'English' })]),
    { translatedText: ['[DE] Save', '[DE] Cancel'] },
  ],
  Mastodon: [
    {
      translatedText: ['[DE] <p>Hello</p>', ''],
      detectedLanguage: [
        { confidence: 100, language: 'en' },
        { confidence: 100, language: 'en' },
      ],
    },
  ],
  Discourse: [[{ confidence: 100, language: 'en' }], { translatedText: '[DE] <p>Hello</p>' }],
  'Subtitle Edit': [{ translatedText: '[DE] Hello,\nworld!' }],
  'Browser extensions and pages': [
    { translatedText: '[DE] Hello', detectedLanguage: { confidence: 100, language: 'en' } },
    expect.objectContaining({ code: 200, data: '[DE] Hello' }),
  ],
};

test('every client in the manual has its answers here', () => {
  expect([...new Set(COMMANDS.map(({ heading }) => heading))]).toEqual(Object.keys(ANSWERS));
});

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/libretranslate' }] } }, (setting) => {
  const { typed } = readerOf(setting);

  test.each(Object.entries(ANSWERS))("LibreTranslate's: %s", async (heading, answers) => {
    const commands = COMMANDS.filter((one) => one.heading === heading);
    expect(await Promise.all(commands.map(({ command }) => typed(command)))).toEqual(answers);
  });
});

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/deepl-v2' }] } }, (setting) => {
  const { run } = readerOf(setting);

  test.each([
    ['Node', 'node', 'lines.mjs', 'js', /^\[DE\] Hello, world! \((?:0|13) of 1000000\)$/],
    ['Python', 'python3', 'lines.py', 'python', /^\[DE\] Hello, world!$/],
    ['Ruby', 'ruby', 'lines.rb', 'ruby', /^\[DE\] Hello, world!$/],
  ] as const)("DeepL's SDK for %s", async (name, program, file, language, output) => {
    const [lines, ...more] = linesOf('deepl-api', `DeepL's SDK for ${name}`, language);
    expect(more).toEqual([]);
    expect(await run(program, `deepl-${file}`, lines!)).toMatch(output);
  });
});

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/google-v2', options: { key_in_query: true } }] } }, (setting) => {
  const { run, typed } = readerOf(setting);

  test("Google's: a shell, Node and Python", async () => {
    const [commands = ''] = codeBlocks(manualPage('google-api'), 'sh');
    expect(
      await Promise.all(
        commands
          .trimEnd()
          .split(/(?<!\\)\n/)
          .map(typed),
      ),
    ).toEqual([
      { data: { translations: [{ translatedText: '[DE] Hello, world!' }] } },
      {
        data: {
          translations: [
            { translatedText: '[FR] Hello', detectedSourceLanguage: 'en' },
            { translatedText: '[FR] you', detectedSourceLanguage: 'en' },
          ],
        },
      },
      { data: { detections: [[{ language: 'en', isReliable: false, confidence: 1 }]] } },
      { data: { languages: expect.arrayContaining([{ language: 'de', name: 'German' }]) as unknown } },
    ]);
    expect(linesOf('google-api', "Google's client for Node", 'sh')).toEqual([`export ${ENDPOINT}=${ADDRESS}/language/translate/v2\n`]);
    const env = { [ENDPOINT]: `http://127.0.0.1:${setting.gateway.port}/language/translate/v2` };
    const [byQuery = '', byField = ''] = linesOf('google-api', "Google's client for Node", 'js');
    expect(await run('node', 'query.mjs', byQuery, env)).toBe('[DE] Hello, world! (en)');
    expect(await run('node', 'field.mjs', byField, env)).toBe('[DE] Hello, world!');
    const [python = ''] = linesOf('google-api', "Google's client for Python", 'python');
    expect(await run('python3', 'google.py', python, env)).toBe('[DE] Hello, world!');
  });
});

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/azure-v3' }] } }, (setting) => {
  const { run, teamId, typed } = readerOf(setting);

  test("Azure's: a shell, and its SDK for Node", async () => {
    // Each line is an example of its own.
    const lines = codeBlocks(manualPage('azure-api'), 'sh').flatMap((block) => block.trimEnd().split('\n'));
    expect(await Promise.all(lines.map(typed))).toEqual([
      [{ translations: [{ text: '[DE] Hello, world!', to: 'de' }] }],
      [
        { detectedLanguage: { language: 'en', score: 1 }, translations: [expect.anything(), { text: '[FR] Hello', to: 'fr' }] },
        { translations: [expect.anything(), { text: '', to: 'fr' }] },
      ],
      { value: [{ translations: [{ language: 'de', text: '[DE] Hello', sourceCharacters: 5 }] }] },
      [{ language: 'en', score: 1, isTranslationSupported: true, isTransliterationSupported: false }],
      { translation: expect.objectContaining({ de: { name: 'German', nativeName: 'Deutsch', dir: 'ltr' } }) as object },
    ]);
    const [program] = linesOf('azure-api', "Azure's SDK for Node", 'js');
    expect(await run('node', 'azure.mjs', program!)).toBe('[DE] Hello, world!');
    await expect.poll(() => setting.gateway.charged({ teamId: teamId() })).toBe(13 + 10 + 5 + 13);
  });
});
