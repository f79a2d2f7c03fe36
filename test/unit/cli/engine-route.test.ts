// `lingate engine route`: which rule and which engines apply and why, as a table and as JSON; and how other commands show the same rules.
import { expect, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { inProcess } from '../../support/lingate-command.ts';
import { written } from '../../support/written-file.ts';
import { SUBJECTS } from '../engines/protocols/subjects.ts';

const NO_ENGINE = ['http://127.0.0.1:1'];
const ROUTING = [
  { plans: ['free'], engines: ['small'] },
  { pairs: ['*-EN-GB'], engines: ['large', 'small', 'third'] },
  { pairs: ['*-DE', '*-FR'], engines: ['small', 'large', 'third'] },
];
const file = (): string =>
  written(
    JSON.stringify({
      engines: {
        small: { protocol: 'libretranslate', urls: NO_ENGINE, pairs: ['EN-DE', 'DE-EN'] },
        large: { urls: NO_ENGINE },
        third: { urls: NO_ENGINE },
      },
      routing: ROUTING,
    }),
  );

async function route(line: string, config = file()): Promise<{ status: number | null; stderr: string; printed: unknown }> {
  const { status, stdout, stderr } = await inProcess(['engine', 'route', '--config', config, '--json', ...line.split(' ')]);
  return { status, stderr, printed: stdout === '' ? undefined : JSON.parse(stdout) };
}
const chosen = (engine: string, attempt: number) => ({ engine, chosen: true, attempt });
const left = (engine: string, because: string) => ({ engine, chosen: false, because });

test.each<[line: string, rule: number | null, engines: readonly object[]]>([
  ['--plan free --from EN --to DE', 0, [chosen('small', 1), left('large', 'rule'), left('third', 'rule')]],
  ['--plan prepaid --from en --to de', 2, [chosen('small', 1), chosen('large', 2), left('third', 'behind')]],
  // A base code as a target stands for all its variants.
  ['--from DE --to EN-GB', 1, [chosen('large', 1), chosen('small', 2), left('third', 'behind')]],
  ['--from FR --to DE', 2, [left('small', 'pair'), chosen('large', 1), chosen('third', 2)]],
  ['--to DE', 2, [chosen('small', 1), chosen('large', 2), left('third', 'behind')]],
  ['--from EN --to DE --formality more', 2, [left('small', 'formality'), chosen('large', 1), chosen('third', 2)]],
  ['--from EN --to DE --formality prefer_more', 2, [chosen('small', 1), chosen('large', 2), left('third', 'behind')]],
  ['--from EN --to DE --glossary', 2, [left('small', 'glossary'), chosen('large', 1), chosen('third', 2)]],
  ['--from EN --to DE --format xml', 2, [left('small', 'xml'), chosen('large', 1), chosen('third', 2)]],
  ['--plan free --from EN --to FR', 0, [left('small', 'pair'), left('large', 'rule'), left('third', 'rule')]],
  ['--from EN --to ES', null, [left('small', 'rule'), left('large', 'rule'), left('third', 'rule')]],
  // The target language has no formality, whatever the engines support.
  ['--from DE --to EN-GB --formality less', 1, [left('large', 'formality'), left('small', 'formality'), left('third', 'formality')]],
])('%s', async (line, rule, engines) => {
  const isHandled = engines.some((engine) => 'attempt' in engine);
  const stderr = isHandled ? '' : 'lingate engine route: no engine can handle it: callers get a 400\n';
  expect(await route(line)).toMatchObject({ status: isHandled ? 0 : 1, stderr, printed: { rule, engines, silent: [] } });
});

test.each([
  ['--from EN', '--to'],
  ['--to XX', '--to: "XX" is not a target language'],
  ['--to EN', '--to: "EN" is not a target language; its variants are EN-GB, EN-US'],
  ['--from EN-GB --to DE', '--from: "EN-GB" is not a source language'],
  ['--plan gold --to DE', '--plan: there is no plan "gold"'],
  ['--to DE --formality much', '--formality: "much" is not one of default, more'],
  ['--to DE --glossary', '--glossary: needs --from'],
])('%s is wrong usage', async (line, said) => {
  expect(await route(line)).toMatchObject({ status: 2, stderr: expect.stringContaining(said) as string, printed: undefined });
});

test('prints a table for people', async () => {
  const { stdout } = await inProcess(['engine', 'route', '--config', file(), ...'--from FR --to DE'.split(' ')]);
  expect(stdout.split('\n')).toEqual([
    'The rule routing.2 matches.',
    'ENGINE',
    'small   left out: does not offer the pair',
    'large   attempt 1',
    'third   attempt 2',
    '',
  ]);
});

test('engines that report their pairs are asked; one that does not answer is assumed to have all, and named', async () => {
  const engine = await startScriptedEngine({ right: SUBJECTS['libretranslate']!.right });
  const ask = { protocol: 'libretranslate', pairs: 'ask', timeout_ms: 1000 };
  const config = written(JSON.stringify({ engines: { asked: { ...ask, urls: [engine.url] }, away: { ...ask, urls: NO_ENGINE } } }));
  const [known, unknown] = [await route('--from EN --to FR', config), await route('--from EN --to JA', config)];
  await engine.close();
  expect(known.printed).toMatchObject({ rule: null, engines: [chosen('asked', 1), chosen('away', 2)], silent: ['away'] });
  expect(unknown.printed).toMatchObject({ engines: [left('asked', 'pair'), chosen('away', 1)], silent: ['away'] });
});

test('one engine can be named by flags, as for engine check and serve', async () => {
  const config = written('{}');
  const of = (protocol: string) =>
    route(`--to FR --glossary --from EN --engine-url http://127.0.0.1:1 --engine-protocol ${protocol}`, config);
  expect((await of('native')).printed).toMatchObject({ engines: [chosen('default', 1)] });
  expect((await of('libretranslate')).printed).toMatchObject({ engines: [left('default', 'glossary')] });
});

test('routes, config check and engine check show the same rules and engines', async () => {
  const config = ['--config', file(), '--json'];
  const json = async (...line: string[]): Promise<Record<string, unknown>> =>
    JSON.parse((await inProcess([...line, ...config])).stdout) as Record<string, unknown>;
  expect((await json('routes'))['routing']).toEqual(ROUTING);
  expect(await json('config', 'check')).toMatchObject({
    engines: ['small (libretranslate): http://127.0.0.1:1', 'large (native): http://127.0.0.1:1', 'third (native): http://127.0.0.1:1'],
    routing: ['plans free to small', 'pairs *-EN-GB to large, then small, then third', 'pairs *-DE *-FR to small, then large, then third'],
  });
  const { replicas } = await json('engine', 'check');
  expect((replicas as { engine: string }[]).map(({ engine }) => engine)).toEqual(['small', 'large', 'third']);
});
