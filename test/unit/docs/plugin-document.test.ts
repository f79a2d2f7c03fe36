// A plugin's routes have an OpenAPI document of their own, as strict as ours, with the words and statuses of their API.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inProcess, parsed, temporaryFolder } from '../../support/lingate-command.ts';
import type { Folder } from '../../support/lingate-command.ts';
import { findings } from './openapi-lint.ts';
import { startRunningGateway } from './running-gateway.ts';
import type { RunningGateway } from './running-gateway.ts';

const PLUGIN = new URL('../../../config/examples/described-api.ts', import.meta.url).pathname;
const config = { plugins: [{ module: PLUGIN }] };

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, unknown>> }>>>>;
  readonly components: { readonly headers: Readonly<Record<string, unknown>> };
}

describe("a plugin's own document", () => {
  let running: RunningGateway;
  let folder: Folder;
  let source: string;
  let document: Document;

  beforeAll(async () => {
    running = await startRunningGateway({ config });
    folder = temporaryFolder();
    source = await (await fetch(`${running.opsUrl}/openapi/described.json`)).text();
    document = JSON.parse(source) as Document;
  });

  afterAll(async () => {
    await running.stop();
    folder.remove();
  });

  test('passes the linter, except that its failures are not problem documents', async () => {
    expect(await findings(source)).not.toEqual([]);
    expect(await findings(source, ['operation-4xx-problem-details-rfc7807'])).toEqual([]);
  });

  test('describes problems with the statuses and words of the plugin', () => {
    const { responses } = document.paths['/described/{id}']!['post']!;
    expect(Object.keys(responses)).toEqual(['200', '400', '403', '429', '500', 'default']);
    expect(responses['403']).toMatchObject({
      content: {
        'application/json': {
          examples: {
            unauthorized: { value: { error: 'No key was sent, or it is malformed, unknown, or not allowed from this address.' } },
            quota_exceeded: {},
          },
        },
      },
    });
    expect(Object.keys(document.components.headers)).toContain('X-Described');
  });

  test('is the only document with its routes, and the reference page links to it', async () => {
    const shared = (await (await fetch(`${running.opsUrl}/openapi.json`)).json()) as Document;
    expect(Object.keys(shared.paths).filter((path) => path.startsWith('/described'))).toEqual([]);
    const page = await (await fetch(`${running.opsUrl}/docs`)).text();
    expect(page).toContain('<a href="openapi/described.json">');
    expect(page).toContain('Describe a thing');
    expect((await fetch(`${running.opsUrl}/openapi/other.json`)).status).toBe(404);
  });

  test('is printed by lingate openapi --plugin without running a gateway', async () => {
    const file = join(folder.path, 'lingate.json');
    const languages = new URL('../../../config/languages.yaml', import.meta.url).pathname;
    writeFileSync(file, JSON.stringify({ ...config, languages }));
    const env = { LINGATE_LISTEN: `127.0.0.1:${running.gateway.port}` };
    const printed = parsed(await inProcess(['openapi', '--json', '--plugin', 'described', '--config', file], env));
    expect({ ...(printed as object), externalDocs: undefined }).toEqual({ ...document, externalDocs: undefined });
    const wrong = await inProcess(['openapi', '--plugin', 'x', '--config', file]);
    expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining('the plugins with one are described')]);
  });
});
