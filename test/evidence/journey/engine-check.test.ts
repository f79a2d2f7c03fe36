// `lingate engine check` against working engines and every way to fail: what it prints, and that the words are ours.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ReplicaReport } from '../../../src/app/check-replicas.ts';
import { builtInProtocols } from '../../support/door/tables.ts';
import { answer, CANARY, status } from '../../../src/testing.ts';
import type { Behaviour, ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startApertium } from '../../support/apertium.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { freePort } from '../../support/free-port.ts';
import { inProcess, lingate } from '../../support/lingate-command.ts';
import type { Ended } from '../../support/lingate-command.ts';
import { startedUntil } from '../../support/started.ts';
import { SECRET, SUBJECTS } from '../../unit/engines/protocols/subjects.ts';
import { RawEngine } from '../../unit/engines/raw-engine.ts';

/** What a configuration of each protocol needs. */
const OPTIONS: Readonly<Record<string, object>> = {
  libretranslate: { api_key: SECRET },
  openai: { model: 'the-model', api_key: SECRET },
  deepl: { api_key: SECRET },
  mtranserver: { token: SECRET },
};

/** Matchers for the parts that vary. */
const words = (text: RegExp | string): unknown => (typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text));
const NUMBER: unknown = expect.any(Number);

const { folder } = startedUntil(afterAll);
const started = startedUntil(afterEach);

interface Engine {
  readonly protocol?: string;
  readonly urls: readonly string[];
  readonly options?: object;
  readonly timeout_ms?: number;
  readonly plugins?: readonly object[];
}

/** The command line for a configuration; JSON is valid YAML. */
function argumentsFor({ plugins = [], protocol = 'native', options = OPTIONS[protocol] ?? {}, ...engine }: Engine): string[] {
  const file = join(folder, 'lingate.yaml');
  writeFileSync(file, JSON.stringify({ engine: { protocol, options, timeout_ms: 5000, ...engine }, plugins, languages: LANGUAGES }));
  return ['engine', 'check', '--config', file];
}

const LANGUAGES = fileURLToPath(new URL('../../../config/languages.yaml', import.meta.url));

async function check(engine: Engine, ...more: string[]): Promise<{ readonly ended: Ended; readonly replicas: readonly ReplicaReport[] }> {
  const ended = await inProcess([...argumentsFor(engine), '--json', ...more]);
  const { replicas } = JSON.parse(ended.stdout) as { readonly replicas: readonly ReplicaReport[] };
  return { ended, replicas };
}

/** The report on the only replica, which cannot translate. */
async function failureOf(engine: Engine, ...more: string[]): Promise<ReplicaReport> {
  const { ended, replicas } = await check(engine, ...more);
  expect([ended.status, ended.stderr, replicas.length]).toEqual([1, 'lingate engine check: 1 of 1 replica cannot translate\n', 1]);
  for (const foreign of [CANARY, SECRET]) expect(ended.stdout).not.toContain(foreign);
  return replicas[0]!;
}

async function scripted(protocol: string, behaviour: Behaviour = 'ok'): Promise<ScriptedEngine> {
  const engine = await started.engine({ right: SUBJECTS[protocol]!.right });
  engine.always(behaviour);
  return engine;
}

/** As vLLM, Ollama, OpenAI and LM Studio say that they lack a model. */
const WITHOUT_MODEL: readonly (readonly [code: number, body: object])[] = [
  [404, { object: 'error', message: 'The model `the-model` does not exist.', type: 'NotFoundError', param: null, code: 404 }],
  [404, { error: { message: 'model "the-model" not found, try pulling it first', type: 'api_error', param: null, code: null } }],
  [404, { error: { message: 'You have no access to the-model', type: 'invalid_request_error', code: 'model_not_found' } }],
  [400, { error: { message: 'Invalid model identifier "the-model".', type: 'invalid_request_error', param: 'model' } }],
];
const LACKING = { failure: 'unsupported_pair', status: 400 };

/** What an engine does, and the report on it; `--to ga` asks for a pair that it lacks. */
const FAILURES: readonly (readonly [what: string, protocol: string, does: Behaviour, report: object, advice: RegExp])[] = [
  ['a key without permission', 'native', status(403), { failure: 'status', status: 403 }, /^Check the key in engine\.options/],
  ['a server that redirects', 'native', status(308), { failure: 'status', status: 308 }, /^Put the address that it redirects to/],
  ['an overloaded server', 'native', status(429), { failure: 'status', status: 429 }, /it is overloaded\.$/],
  ['a server without its engine', 'native', status(502), { failure: 'status', status: 502 }, /^Check the proxy in front/],
  ['an answer that is too late', 'native', 'hang', { failure: 'timeout' }, /engine\.timeout_ms/],
  ['an answer that breaks off', 'native', 'reset', { failure: 'reset' }, /./],
  ...[...builtInProtocols.keys()].flatMap((protocol) => [
    ['a wrong key', protocol, status(401), { failure: 'status', status: 401 }, /^Check the key in engine\.options/] as const,
    ['a wrong path', protocol, status(404), { failure: 'status', status: 404 }, /^Check the path in engine\.urls/] as const,
    ['a page', protocol, 'not_json', { failure: 'not_json', status: 200 }, /engine\.protocol/] as const,
    ['another protocol', protocol, answer(`{"${CANARY}":1}`), { failure: 'wrong_shape' }, /engine\.protocol/] as const,
  ]),
  ...WITHOUT_MODEL.map(
    ([code, body]) =>
      [
        'no such model',
        'openai',
        status(code, JSON.stringify(body)),
        { failure: 'status', status: code },
        /engine\.options\.model/,
      ] as const,
  ),
  ...['ga is not supported', 'Irish (ga) is not available as a target language from English (en)'].map(
    (error) => ['no such pair', 'libretranslate', status(400, JSON.stringify({ error })), LACKING, /engine\.pairs/] as const,
  ),
  ['no such pair', 'deepl', status(400, `{"message":"Value for 'target_lang' not supported."}`), LACKING, /engine\.pairs/],
  ['no such pair', 'apertium', status(400), LACKING, /engine\.pairs/],
];

test.each(FAILURES)('%s of an engine that speaks %s', async (_what, protocol, does, report, advice) => {
  const { url } = await scripted(protocol, does);
  const reply = await failureOf({ protocol, urls: [url], timeout_ms: 1000 }, ...(report === LACKING ? ['--to', 'ga'] : []));
  expect(reply).toMatchObject({ engine: 'default', url, ok: false, ...report, advice: words(advice) });
});

test.each([...builtInProtocols.keys()])('an engine that speaks %s translates one sentence, once', async (protocol) => {
  const { url, requests } = await scripted(protocol);
  // With both languages given, no list of pairs is asked for.
  const { ended, replicas } = await check({ protocol, urls: [url] }, '--from', 'EN', '--to', 'DE');
  const text = '[DE] The house is big.';
  expect([ended.status, ended.stderr]).toEqual([0, '']);
  expect(replicas).toEqual([{ engine: 'default', url, ok: true, ms: NUMBER, text, echoes_id: true }]);
  expect(requests).toHaveLength(1);
});

describe('several replicas', () => {
  test('are all checked, in order; one that cannot translate is status 1', async () => {
    const [good, bad] = [await scripted('native'), await scripted('native', status(500))];
    const { ended, replicas } = await check({ urls: [good.url, bad.url, `${good.url}/`] });
    expect(replicas.map(({ url, ok }) => [url, ok])).toEqual([
      [good.url, true],
      [bad.url, false],
    ]);
    expect([ended.status, ended.stderr]).toEqual([1, 'lingate engine check: 1 of 2 replicas cannot translate\n']);
  });

  test('are a line each for people, without control characters for their terminal', async () => {
    const [good, bad] = [
      await scripted('native', answer(JSON.stringify({ translations: [{ text: 'x\u001b[2J\ny' }] }))),
      await scripted('native', status(401)),
    ];
    const { status: code, stdout } = await lingate(argumentsFor({ urls: [good.url, bad.url] }));
    const [first, second, ...rest] = stdout.trimEnd().split('\n');
    expect(first).toMatch(/: translates in \d+ ms; it repeats the request id: x\uFFFD\[2J\uFFFDy$/);
    expect(second).toMatch(/: fails with status 401\. Check the key/);
    expect([code, rest]).toEqual([1, []]);
  });
});

describe('the connection', () => {
  const usual = getCACertificates('default');
  let secure: { readonly key: Buffer; readonly cert: Buffer };

  beforeAll(async () => {
    const { certFile, keyFile } = await makeCertificate(folder, 'engine.test', 'DNS:localhost');
    secure = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
  });
  afterEach(() => setDefaultCACertificates(usual));

  const tlsPort = async (): Promise<number> => {
    const engine = await new RawEngine(createServer(secure)).listen('127.0.0.1', 'secureConnection');
    started.closes(() => engine.close());
    return engine.port;
  };

  test('nothing listens', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const report = { engine: 'default', url, ok: false, failure: 'connect', advice: words('nobody listens there') };
    expect(await failureOf({ urls: [url] })).toEqual(report);
  });

  test('an untrusted certificate', async () => {
    const url = `https://localhost:${await tlsPort()}`;
    expect(await failureOf({ urls: [url] })).toMatchObject({ failure: 'connect', advice: words('NODE_EXTRA_CA_CERTS') });
  });

  test('a certificate for another name', async () => {
    setDefaultCACertificates([...usual, secure.cert.toString()]);
    const url = `https://127.0.0.1:${await tlsPort()}`;
    expect(await failureOf({ urls: [url] })).toMatchObject({
      failure: 'connect',
      advice: words("certificate's host name"),
    });
  });

  test('no TLS although it is expected', async () => {
    const { port } = await scripted('native');
    expect(await failureOf({ urls: [`https://localhost:${port}`] })).toMatchObject({
      failure: 'connect',
      advice: words(/^Use http in/),
    });
  });
});

test('pairs are our codes in upper or lower case; a base code is its first variant; another word is wrong usage', async () => {
  const { url, requests } = await scripted('native');
  await check({ urls: [url] }, '--from', 'es', '--to', 'en');
  expect(JSON.parse(requests[0]!.body)).toMatchObject({ text: ['La casa es grande.'], source_lang: 'ES', target_lang: 'EN-GB' });
  const wrong = async (...flags: string[]) => (await inProcess([...argumentsFor({ urls: [url] }), ...flags])).stderr;
  expect(await wrong('--from', 'EN-GB')).toMatch(
    /^lingate engine check: --from: "EN-GB" is not a source language; the source languages are AR, .*\n$/,
  );
  expect(await wrong('--to', 'xx')).toMatch(
    /^lingate engine check: --to: "xx" is not a target language; the target languages are AR, .*\n$/,
  );
  expect(requests).toHaveLength(1);
});

describe('a language model', () => {
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  beforeAll(async () => {
    mock.onMessage(/house/, { content: '{"t0":"Das Haus ist groß."}' });
    await mock.start();
  });
  afterEach(() => {
    mock.clearChaos();
    mock.clearRequests();
  });
  afterAll(() => mock.stop());

  test.each(['', '/', '/v1', '/v1/'])('of aimock translates, the URL ending in "%s"; it repeats the id', async (end) => {
    const { replicas } = await check({ protocol: 'openai', urls: [`${mock.url}${end}`] });
    const url = `${mock.url}${end}`.replace(/\/$/, '');
    expect(replicas).toEqual([{ engine: 'default', url, ok: true, ms: NUMBER, text: 'Das Haus ist groß.', echoes_id: true }]);
    expect(mock.getRequests().map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  });
});

describe('the real Apertium', () => {
  test('translates a pair that it has, by default one that it offers, and reports a missing pair and a wrong path', async () => {
    const apertium = await startApertium();
    started.closes(() => apertium.stop());
    const engine = { protocol: 'apertium', urls: [apertium.url] };
    expect((await check(engine)).replicas).toMatchObject([{ ok: true, text: 'La casa es grande.' }]);
    expect((await check(engine, '--from', 'ES')).replicas).toMatchObject([{ ok: true, text: 'The house is big.' }]);
    expect((await check(engine, '--to', 'ES')).replicas).toMatchObject([{ ok: true, text: 'La casa es grande.' }]);
    expect((await check(engine, '--from', 'ES', '--to', 'EN')).replicas).toMatchObject([{ ok: true, text: 'The house is big.' }]);
    expect(await failureOf(engine, '--to', 'DE')).toMatchObject({ failure: 'unsupported_pair', status: 400 });
    const elsewhere = { protocol: 'apertium', urls: [`${apertium.url}/apertium`] };
    expect(await failureOf(elsewhere, '--to', 'ES')).toMatchObject({ failure: 'status', status: 404 });
  });
});

test("a plugin's protocol is checked too", async () => {
  const module = fileURLToPath(new URL('../../support/plugins/own-engine.ts', import.meta.url));
  const engine = (api_key: string): Engine => ({
    protocol: 'shouting',
    urls: ['http://127.0.0.1:1'],
    options: { api_key, shout: true },
    plugins: [{ module }],
  });
  expect((await check(engine('the-right-key'))).replicas).toMatchObject([{ ok: true, text: 'THE HOUSE IS BIG.', echoes_id: false }]);
  expect(await failureOf(engine('another'))).toMatchObject({ failure: 'status', advice: words(/./) });
});

test('an invalid configuration is one line, and no engine is called', async () => {
  const { url, requests } = await scripted('openai');
  const ended = await inProcess(argumentsFor({ protocol: 'openai', urls: [url], options: {} }));
  expect([ended.status, ended.stdout]).toEqual([1, '']);
  expect(ended.stderr).toMatch(/^[^\n]*engine\.options\.model[^\n]*\n$/);
  expect(requests).toHaveLength(0);
});
