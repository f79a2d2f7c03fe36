// The details of a failed attempt: the kind of failure, the status of the answer, why there was no connection, when to retry.
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ReplicaWatch } from '../../../src/engines/replica.ts';
import { connectCauseOf } from '../../../src/engines/http1/origin.ts';
import type { EngineProtocol, FailureDetail } from '../../../src/ports/engine.ts';
import { startScriptedEngine, status } from '../../../src/testing/scripted-engine.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { asked, Caller, Opened, work } from './engine-work.ts';
import type { WorkParts } from './engine-work.ts';
import { RawEngine } from './raw-engine.ts';

const opened = new Opened();
const usual = getCACertificates('default');
const folder = mkdtempSync(join(tmpdir(), 'lingate-attempt-'));
let key: Buffer;
let cert: Buffer;

beforeAll(async () => {
  const { certFile, keyFile } = await makeCertificate(folder, 'engine.test', 'DNS:localhost');
  key = readFileSync(keyFile);
  cert = readFileSync(certFile);
});

afterEach(async () => {
  setDefaultCACertificates(usual);
  await opened.close();
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The details of the first attempt's failure. */
async function firstFailure(url: string, options: Parameters<Opened['engine']>[1] = {}, parts: WorkParts = {}): Promise<FailureDetail> {
  const details: FailureDetail[] = [];
  const watch: ReplicaWatch = {
    attempted: () => undefined,
    failed: (_work, detail) => void details.push(detail),
    setAside: () => undefined,
    back: () => undefined,
  };
  await asked(opened.engine([url], { ...options, watch: () => watch }), work(parts), new Caller());
  return details[0]!;
}

async function secureEngine(): Promise<number> {
  return opened.add(await new RawEngine(createServer({ key, cert })).listen('127.0.0.1', 'secureConnection')).port;
}

describe('an unusable answer is reported with its status', () => {
  test.each([401, 404, 429, 500])('%i', async (code) => {
    const scripted = await opened.scripted();
    scripted.always(status(code));
    expect(await firstFailure(scripted.url)).toMatchObject({ failure: 'status', status: code });
  });

  test('also one that says 200', async () => {
    const scripted = await opened.scripted();
    scripted.always('not_json');
    expect(await firstFailure(scripted.url)).toMatchObject({ failure: 'not_json', status: 200 });
    scripted.always('one_too_few');
    expect(await firstFailure(scripted.url)).toMatchObject({ failure: 'wrong_shape', status: 200 });
  });

  test('and with its Retry-After', async () => {
    const scripted = await opened.scripted();
    scripted.always((_request, response) => response.writeHead(503, { 'Retry-After': ' 7 ' }).end());
    expect(await firstFailure(scripted.url)).toMatchObject({ failure: 'status', status: 503, retryAfter: '7' });
  });

  test('and of several calls with the status of the refused one', async () => {
    const scripted = await opened.scripted();
    scripted.behave('ok', status(418), 'ok');
    const protocol: EngineProtocol = {
      async attempt(what, wire) {
        const body = JSON.stringify({ text: what.text, target_lang: 'DE' });
        for (let i = 0; i < 3; i++) await wire.call({ method: 'POST', path: '/', headers: {}, body });
        return { kind: 'unusable', failure: 'wrong_shape' };
      },
    };
    expect(await firstFailure(scripted.url, { protocol })).toMatchObject({ failure: 'wrong_shape', status: 418 });
  });

  test('but a failure without an answer has none', async () => {
    const scripted = await opened.scripted();
    for (const [behaviour, failure] of [
      ['reset', 'reset'],
      ['hang', 'timeout'],
      ['huge', 'too_large'],
    ] as const) {
      scripted.always(behaviour);
      const detail = await firstFailure(scripted.url, { timeoutMs: failure === 'timeout' ? 500 : 20_000 });
      expect([detail.failure, detail.status]).toEqual([failure, undefined]);
    }
  });

  test('a cause that an adapter knows is passed on', async () => {
    const protocol: EngineProtocol = {
      attempt: () => Promise.resolve({ kind: 'unusable', failure: 'status', cause: 'model_unknown' }),
    };
    expect(await firstFailure('http://127.0.0.1:1', { protocol })).toMatchObject({ failure: 'status', cause: 'model_unknown' });
  });
});

describe('a failed connection is reported with its cause', () => {
  test('nobody listens', async () => {
    const scripted = await startScriptedEngine();
    const { url } = scripted;
    await scripted.close();
    expect(await firstFailure(url)).toMatchObject({ failure: 'connect', cause: 'refused' });
  });

  test('there is no such name', async () => {
    expect(await firstFailure('http://nobody.invalid')).toMatchObject({ failure: 'connect', cause: 'name_unknown' });
  });

  test('the certificate is of another name', async () => {
    setDefaultCACertificates([...usual, cert.toString()]);
    expect(await firstFailure(`https://127.0.0.1:${await secureEngine()}`)).toMatchObject({ failure: 'connect', cause: 'tls_name' });
  });

  test('the certificate is not trusted', async () => {
    expect(await firstFailure(`https://localhost:${await secureEngine()}`)).toMatchObject({ failure: 'connect', cause: 'tls_untrusted' });
  });

  test('there is no TLS', async () => {
    const { port } = await opened.scripted();
    expect(await firstFailure(`https://localhost:${port}`)).toMatchObject({ failure: 'connect', cause: 'tls_handshake' });
  });

  test.each([
    ['EHOSTUNREACH', 'unreachable'],
    ['ENETUNREACH', 'unreachable'],
    ['ETIMEDOUT', 'silent'],
    ['CERT_HAS_EXPIRED', 'tls_expired'],
    ['ECONNRESET', 'tls_handshake'],
    ['EMFILE', 'tls_handshake'],
  ])('%s', (code, cause) => {
    expect(connectCauseOf(Object.assign(new Error(), { code }), true)).toBe(cause);
  });

  test('an unknown error has no cause without TLS', () => {
    expect(connectCauseOf(Object.assign(new Error(), { code: 'EMFILE' }), false)).toBeUndefined();
  });
});
