// A caller's trace continues to the engine with a span of ours; without a valid one there is none.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { LISTENERS } from '../../support/listeners.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe.each(LISTENERS)('the %s listener', (listener) => {
  let folder: string;
  let engine: ScriptedEngine;
  let gateway: TestGateway;
  let team: TestTeam;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lingate-tracing-'));
    engine = await startScriptedEngine();
    gateway = await startGateway({ listener, store: `sqlite:${folder}/lingate.db`, engineUrls: [engine.url] });
    team = await gateway.team();
  });

  afterAll(async () => {
    await gateway.stop();
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function sentOn(headers: Readonly<Record<string, string>>): Promise<string | undefined> {
    engine.forget();
    const { status } = await request({
      port: gateway.port,
      method: 'POST',
      path: '/v1/translate',
      headers: { Authorization: `Bearer ${team.key}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ text: ['Hello'], target_lang: 'DE' }),
    });
    expect(status).toBe(200);
    return engine.requests[0]!.headers['traceparent'] as string | undefined;
  }

  test('the trace and its flags continue, the span is ours', async () => {
    const sent = await sentOn({ traceparent: `00-${TRACE}-${SPAN}-01` });
    expect(sent).toMatch(new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-01$`));
    expect(await sentOn({ TraceParent: `00-${TRACE}-${SPAN}-01` })).not.toBe(sent);
  });

  test('an invalid or missing trace starts none, and no other field is passed on', async () => {
    expect(await sentOn({ traceparent: `00-${TRACE}-${SPAN}` })).toBeUndefined();
    expect(await sentOn({ tracestate: 'vendor=value' })).toBeUndefined();
    expect(engine.requests[0]!.headers).not.toHaveProperty('tracestate');
  });
});
