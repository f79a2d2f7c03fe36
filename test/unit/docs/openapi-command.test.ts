// lingate openapi prints the document that a running gateway serves, without running one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inProcess, lingate, parsed, temporaryFolder } from '../../support/lingate-command.ts';
import type { Folder } from '../../support/lingate-command.ts';
import { startRunningGateway } from './running-gateway.ts';
import type { RunningGateway } from './running-gateway.ts';

type Document = Record<string, unknown>;

describe('lingate openapi', () => {
  let running: RunningGateway;
  let folder: Folder;

  beforeAll(async () => {
    running = await startRunningGateway();
    folder = temporaryFolder();
  });

  afterAll(async () => {
    await running.stop();
    folder.remove();
  });

  test('prints what a gateway with the same addresses serves', async () => {
    const served = (await (await fetch(`${running.opsUrl}/openapi.json`)).json()) as Document;
    const printed = parsed(await inProcess(['openapi', '--json'], { LINGATE_LISTEN: `127.0.0.1:${running.gateway.port}` })) as Document;
    expect(printed).toEqual(served);
  });

  test('prints indented JSON for people, and creates nothing', async () => {
    const { status, stdout, stderr } = await lingate(['openapi'], { cwd: folder.path });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\{\n {2}"openapi": "3\.1\.0",\n/);
    expect(() => JSON.parse(stdout) as Document).not.toThrow();
  });

  test('takes service name, addresses and accepted fields from the configuration', async () => {
    const file = join(folder.path, 'acme.json');
    const service = { name: 'acme', docs_url: 'https://acme.test/docs/' };
    writeFileSync(file, JSON.stringify({ listen: '0.0.0.0:8443', service, auth: { vendor_names: ['X-Acme-Key'] }, languages: LANGUAGES }));
    const document = parsed(await inProcess(['openapi', '--json', '--config', file])) as Document;
    expect(document).toMatchObject({
      info: { title: 'acme API' },
      externalDocs: { url: 'https://acme.test/docs/errors' },
      servers: [{ url: 'http://127.0.0.1:8443' }],
      security: [{ bearer: [] }, { XAcmeKey: [] }],
    });
  });
});

const LANGUAGES = new URL('../../../config/languages.yaml', import.meta.url).pathname;
