// The end of the certificate: advised on from 14 days before, and logged every day until it is renewed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { watchCertificate } from '../../../src/app/certificate.ts';
import { adviceOn } from '../../../src/app/ready-line.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/config.ts';
import { makeCertificate } from '../../support/certificate.ts';
import type { CertificateFiles } from '../../support/certificate.ts';
import { written } from '../../support/written-file.ts';

const DAY_MS = 86_400_000;
let files: CertificateFiles;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-certificate-'));
  files = await makeCertificate(folder, 'localhost');
  return () => rmSync(folder, { recursive: true, force: true });
});

afterEach(() => void vi.useRealTimers());

const config = (): Config => loadConfig({ file: written(`tls: { cert_file: ${files.certFile}, key_file: ${files.keyFile} }`), env: {} });

test('the configuration is advised on from 14 days before, with file, date and days', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  expect(adviceOn(config())).toEqual([]);
  vi.setSystemTime(Date.now() + 20 * DAY_MS);
  expect(adviceOn(config())).toEqual([
    expect.stringMatching(/^tls\.cert_file: \S+cert\.pem ends at \d{4}-.*Z, in 10 days; renew it and reload$/),
  ]);
  vi.setSystemTime(Date.now() + 11 * DAY_MS);
  expect(adviceOn(config())).toEqual([expect.stringMatching(/cert\.pem ended at \d{4}-.*: callers refuse it; renew it and reload$/)]);
});

test('once a day it is logged, as an error once the certificate has ended', () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const log = {
    info: () => {},
    warn: (line: string) => void lines.push(`warn ${line}`),
    error: (line: string) => void lines.push(`error ${line}`),
  };
  const stop = watchCertificate(config, log);
  vi.advanceTimersByTime(15 * DAY_MS);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(2 * DAY_MS);
  expect(lines).toEqual(['warn TLS: the certificate ends soon', 'warn TLS: the certificate ends soon']);
  vi.advanceTimersByTime(13 * DAY_MS);
  expect(lines.at(-1)).toBe('error TLS: the certificate has ended');
  stop();
  const { length } = lines;
  vi.advanceTimersByTime(2 * DAY_MS);
  expect(lines).toHaveLength(length);
});
