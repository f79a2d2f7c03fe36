// The OpenAPI documents of the plugins that come with the gateway: as strict as ours.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findings } from './openapi-lint.ts';
import { startRunningGateway } from './running-gateway.ts';
import type { RunningGateway } from './running-gateway.ts';

const NAMES = ['deepl-v2'] as const;

let running: RunningGateway;

beforeAll(async () => {
  running = await startRunningGateway({ config: { plugins: NAMES.map((name) => ({ module: `lingate/plugins/${name}` })) } });
});

afterAll(() => running.stop());

const documentOf = async (name: string): Promise<string> => (await fetch(`${running.opsUrl}/openapi/${name}.json`)).text();

test('that of deepl-v2 has nothing that the linter finds, and the statuses of its API', async () => {
  const source = await documentOf('deepl-v2');
  expect(await findings(source)).toEqual([]);
  const { paths } = JSON.parse(source) as { paths: Record<string, Record<string, { responses: object }>> };
  expect(Object.keys(paths['/v2/translate']!['post']!.responses)).toEqual(
    expect.arrayContaining(['200', '400', '403', '404', '413', '429', '456', '500', '503']),
  );
  expect(Object.keys(paths)).not.toContain('/v2/document');
  expect(source).toContain('"message":"The characters of the period are used up and the overage cap is reached."');
});
