// Routes that need no key, of the gateway and of every plugin that comes with it: built once, and a 304 for whoever has the answer.
import { expect, test } from 'vitest';
import { ask, onOneGateway } from '../../support/every-gateway.ts';
import { FACADES } from '../../support/fronts.ts';
import { inProcess, parsed } from '../../support/lingate-command.ts';
import { written } from '../../support/written-file.ts';

const CONFIG = { docs: { public: true }, plugins: FACADES };
/** What a path does not answer without. */
const QUERIES: Readonly<Record<string, string>> = { '/translator/text/v3.0/languages': '?api-version=3.0' };

/**
 * The paths of all GETs without a key but `/health`, which says how the gateway is at that moment, and downloads of a document, whose
 * addresses are their keys.
 */
async function keylessPaths(): Promise<readonly string[]> {
  const { routes } = parsed(await inProcess(['routes', '--json', '--config', written(JSON.stringify(CONFIG))])) as {
    readonly routes: readonly { readonly route: string; readonly steps: readonly string[] }[];
  };
  return routes
    .filter(({ route, steps }) => route.startsWith('GET ') && !steps.some((step) => step === 'identify' || step.includes('key')))
    .map(({ route }) => route.slice('GET '.length))
    .filter((path) => path !== '/health' && path !== '/download_file/{name}');
}

onOneGateway({ config: CONFIG }, (setting) => {
  test('lists of languages, settings and documentation have a validator, and the same bytes each time', async () => {
    const paths = await keylessPaths();
    expect(paths).toEqual(
      expect.arrayContaining(['/docs', '/openapi/azure-v3.json', '/languages', '/spec', '/translator/text/v3.0/languages']),
    );
    for (const path of paths) {
      const asked = { path: `${path}${QUERIES[path] ?? ''}` };
      const first = await ask(setting, asked);
      const tag = first.header('etag')!;
      expect([path, first.status, tag]).toEqual([path, 200, expect.stringMatching(/^"[\w-]{22}"$/)]);
      const again = await ask(setting, asked);
      expect([path, again.header('etag'), again.body]).toEqual([path, tag, first.body]);
      const known = await ask(setting, { ...asked, headers: { 'if-none-match': tag } });
      expect([path, known.status, known.header('etag'), known.body]).toEqual([path, 304, tag, '']);
    }
  });
});
