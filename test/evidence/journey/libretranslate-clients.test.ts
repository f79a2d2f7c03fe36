// The manual's examples for LibreTranslate's clients, run in a shell: only the address and the key are replaced.
import process from 'node:process';
import { beforeAll, expect, test } from 'vitest';
import { onOneGateway } from '../../support/every-gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { codeBlocks, manualPage } from '../../support/manual.ts';
import { outputOf } from '../../support/start-program.ts';

const ADDRESS = 'http://127.0.0.1:8080';

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
  let team: TestTeam;

  beforeAll(async () => {
    team = await setting.gateway.team();
  });

  test.each(Object.entries(ANSWERS))('%s', async (heading, answers) => {
    const commands = COMMANDS.filter((one) => one.heading === heading);
    expect(commands).toHaveLength(answers.length);
    for (const [i, { command }] of commands.entries()) {
      expect(command).toContain(ADDRESS);
      const line = command.replaceAll(ADDRESS, `http://127.0.0.1:${setting.gateway.port}`);
      const env = { ...process.env, LINGATE_KEY: team.key };
      expect(JSON.parse(await outputOf('sh', ['-c', line], { env, uses: ['curl'] }))).toEqual(answers[i]);
    }
  });
});
