// Row 24: secrets are sent in every possible way, errors and misbehaving engines included, and appear only where they belong.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemsWith } from '../../support/door/tables.ts';
import { CANARY } from '../../../src/testing.ts';
import { report } from '../scorecard/report.ts';
import { startLoadedGateway } from '../load/loaded-gateway.ts';
import type { LoadedGateway } from '../load/loaded-gateway.ts';
import { FACADES } from '../../support/fronts.ts';
import { request } from '../../support/raw-http.ts';
import { formsOf, hitsIn } from '../security/canaries.ts';
import type { Canary, Hit } from '../security/canaries.ts';
import { FacadeTraffic } from '../security/facade-traffic.ts';
import { leakyEngine } from '../security/leaky-engine.ts';
import { opsPages, storedIn } from '../security/outputs.ts';
import type { Place } from '../security/outputs.ts';
import { SecretTraffic } from '../security/secret-traffic.ts';
import { COMBINATIONS } from '../../support/every-gateway.ts';

const FAULT_PLUGIN = fileURLToPath(new URL('../../support/plugins/fault.ts', import.meta.url));
const ENGINE: Canary = { name: 'engine', value: CANARY };
/** In the exception that the fault plugin throws. */
const BUG: Canary = { name: "a bug's message", value: 'thrown on command' };

function hits(contents: readonly Place[], canaries: readonly Canary[]): Hit[] {
  return contents.flatMap(({ name, content }) => hitsIn(name, content, canaries));
}

test.each([...formsOf('a secret: "é<&').keys()])('a secret in the form "%s" is found anywhere in a text', (form) => {
  const value = 'a secret: "é<&';
  for (const before of ['', 'x', 'xy', 'xyz']) {
    const base64 = /^(base64|base64url) at/.exec(form)?.[1] as 'base64' | 'base64url' | undefined;
    const place = base64 === undefined ? before + formsOf(value).get(form)! : Buffer.from(`${before}${value}, and more`).toString(base64);
    expect(hitsIn('here', place, [{ name: 'secret', value }])).not.toEqual([]);
  }
  expect(hitsIn('here', 'another secret', [{ name: 'secret', value }])).toEqual([]);
});

describe.each(COMBINATIONS)('$listener listener, $store store', ({ listener, store }) => {
  let site: LoadedGateway;
  let traffic: SecretTraffic;
  let facades: FacadeTraffic;

  beforeAll(async () => {
    const config = {
      listener,
      engine: { timeout_ms: 1500, response_bytes_max: 100_000 },
      limits: { shed_loop_delay_ms: 0 },
      plugins: [{ module: FAULT_PLUGIN, options: {} }, ...FACADES],
      store_options: { command_timeout_ms: 1000 },
    };
    site = await startLoadedGateway({ store, config });
    site.engine.always(leakyEngine);
    traffic = new SecretTraffic(site, listener);
    facades = new FacadeTraffic(site, traffic);
  });

  afterAll(() => site.stop());

  test('secrets are sent in every way, and every error code is returned', async () => {
    await traffic.run();
    const codeOf = (body: string): string => (JSON.parse(body) as { code: string }).code;
    const codes = new Set(traffic.answers.map(({ response }) => (response.status < 400 ? 'ok' : codeOf(response.body))));
    const ours = problemsWith({});
    expect([...codes].toSorted()).toEqual([...ours, 'ok'].toSorted());
  });

  test('and to every API that a plugin adds, with keys in bodies and where they do not belong', async () => {
    await facades.run();
    const statuses = new Set(facades.answers.map(({ response }) => response.status));
    expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 400, 401, 403, 404, 456, 500, 503]);
  });

  test('no answer contains a key or a word of the engine, and no problem anything that its caller said', () => {
    const all = [...traffic.answers, ...facades.answers].map(({ name, response }) => ({
      status: response.status,
      place: { name, content: JSON.stringify([response.rawHeaders, response.statusText]) + response.body },
    }));
    const contents = all.map(({ place }) => place);
    expect(hits(contents, [...traffic.keys, { name: 'unknown key', value: traffic.secret.unknownKey }, ENGINE, BUG])).toEqual([]);
    const refused = all.filter(({ status }) => status >= 400).map(({ place }) => place);
    // Names of members are repeated to their sender, so that a mistyped option or a bad entry can be found; values never are.
    const names = ['member', 'term'];
    expect(hits(refused, traffic.said).filter(({ canary, place }) => place !== 'validation_error' || !names.includes(canary))).toEqual([]);
  });

  test('no other team sees any of it', async () => {
    const other = await traffic.team();
    const ask = async (path: string): Promise<Place> => {
      const response = await request({ port: site.port, path, headers: { authorization: `Bearer ${other.key}` } });
      expect([path, response.status]).toEqual([path, 200]);
      return { name: path, content: JSON.stringify(response.rawHeaders) + response.body };
    };
    const contents = await Promise.all(['/v1/usage', '/v1/glossaries', '/v1/languages?type=target', '/health'].map(ask));
    expect(hits(contents, [...traffic.said, ...traffic.keys, ENGINE])).toEqual([]);
  });

  test('no ops page, metrics included, contains any of it', async () => {
    const contents = await opsPages(site.process.opsUrl);
    expect(contents.find(({ name }) => name === 'ops /metrics')!.content).toContain('lingate_requests_total');
    expect(hits(contents, [...traffic.said, ...traffic.keys, ENGINE, BUG])).toEqual([]);
  });

  test('the store contains glossary entries and the beginnings of keys, and nothing else of it', async () => {
    const contents = await storedIn(site.storeUrl);
    const { term, unknownKey } = traffic.secret;
    // What may be there is found, so the search works.
    expect(hits(contents, [{ name: 'term', value: term }])).not.toEqual([]);
    expect(hits(contents, [{ name: 'display', value: 'la_live_' }])).not.toEqual([]);
    const entries = ['term', 'termTranslation'];
    const rest = traffic.said.filter(({ name }) => !entries.includes(name));
    expect(hits(contents, [...rest, ...traffic.keys, { name: 'unknown key', value: unknownKey.slice(12) }, ENGINE])).toEqual([]);
  });

  test('no line that the process has printed contains any of it', async () => {
    // Callers who left are logged when the engine's attempt has ended.
    await expect.poll(() => site.metric('lingate_requests_in_flight')).toBe(0);
    expect(await site.process.end('SIGTERM')).toBe(0);
    const output = site.process.output();
    for (const { response } of [...traffic.answers, ...facades.answers]) expect(output).toContain(response.header('x-request-id'));
    for (const word of ['client_closed', '"a bug"', 'engine attempt failed']) expect(output).toContain(word);
    const secrets = [...traffic.said, ...traffic.keys, ENGINE, BUG];
    expect(hits([{ name: 'the log', content: output }], secrets)).toEqual([]);
    const stored = await storedIn(site.storeUrl);
    expect(hits(stored, [...traffic.keys, ENGINE])).toEqual([]);
    report({
      row: 24,
      figure: `secrets, ${listener} listener, ${store}`,
      measured: `0 hits of ${secrets.length} secrets in ${formsOf('x').size} forms; ${traffic.answers.length + facades.answers.length} answers of all codes, ${output.split('\n').length} lines printed, ${stored.length} pieces of the store, all ops pages`,
    });
  });
});
