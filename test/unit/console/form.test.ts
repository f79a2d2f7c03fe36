// How the console reads what people type and shows figures; and no page writes forms or HTML in its own way.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { amountField, isFromHere, isOverTls, nameField } from '../../../src/console/form.ts';
import { ago, count, money, usageBar } from '../../../src/console/shown.ts';
import type { OpsRequest } from '../../../src/ops/ops-request.ts';

const ROOM = fileURLToPath(new URL('../../../src/console', import.meta.url));

describe('an amount', () => {
  test.each<[string, string, number]>([
    ['50', 'EUR', 5000],
    [' 50.5 ', 'EUR', 5050],
    ['0.01', 'EUR', 1],
    ['0.29', 'EUR', 29],
    ['1234567.89', 'EUR', 123_456_789],
    ['50', 'JPY', 50],
    ['1.005', 'KWD', 1005],
  ])('%j of %s is %i minor units', (text, currency, minor) => {
    expect(amountField(text, currency)).toEqual({ value: minor });
  });

  test.each(['', '0', '0.00', '-1', '+1', '1,5', '1.', '.5', '1.234', '1e3', '0x10', '٣', 'NaN', 'Infinity', '1 000', '9'.repeat(13)])(
    '%j is refused',
    (text) => {
      expect(amountField(text, 'EUR')).toHaveProperty('fault');
    },
  );
});

test('names are checked by the same rules as on the command line', () => {
  expect(nameField(' Acme ')).toEqual({ value: 'Acme' });
  expect(nameField('a\u202Eb')).toEqual({ fault: 'This name holds a control character; use printable characters only.' });
});

describe('figures', () => {
  test('money has as many decimal places as its currency', () => {
    expect([money(123_456, 'EUR'), money(5, 'EUR'), money(1500, 'JPY'), money(1005, 'KWD')]).toEqual([
      '1,234.56 EUR',
      '0.05 EUR',
      '1,500 JPY',
      '1.005 KWD',
    ]);
    expect(count(1_234_567)).toBe('1,234,567');
  });

  test.each([
    [0, '0 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [3_600_000, '1 h ago'],
    [86_400_000, '1 day ago'],
    [200_000_000, '2 days ago'],
    // Two clocks never agree exactly.
    [-5000, '0 s ago'],
  ])('%i ms are shown as %s, with the exact time', (ms, words) => {
    const now = Date.UTC(2026, 10, 22);
    const { text } = ago(now - ms, now);
    expect(text).toContain(`>${words}</time>`);
    expect(text).toContain(`datetime="${new Date(now - ms).toISOString().slice(0, 19)}`);
  });

  test.each([
    [0, 0, 1, 0],
    [5, 0, 1, 1],
    [5, 10, 10, 5],
    [15, 10, 10, 10],
  ])('%i of %i is a bar that does not exceed its ends', (used, limit, max, value) => {
    const { text } = usageBar('"of" <x>', used, limit);
    expect(text).toContain(`max="${max}"`);
    expect(text).toContain(`value="${value}"`);
    expect(text).toContain('aria-label="&quot;of&quot; &lt;x&gt;"');
    expect(text).toContain(`${used} of ${limit}`);
  });
});

describe('the origin of a form', () => {
  const from = (headers: OpsRequest['headers']): OpsRequest => ({
    method: 'POST',
    path: '/console/teams',
    query: new URLSearchParams(),
    headers: { host: 'ops.internal:9090', ...headers },
    body: Buffer.alloc(0),
    remoteAddress: '127.0.0.1',
  });

  test.each<[OpsRequest['headers'], boolean]>([
    [{}, true],
    [{ origin: 'http://ops.internal:9090', 'sec-fetch-site': 'same-origin' }, true],
    [{ origin: 'https://ops.internal:9090' }, true],
    [{ host: 'ops.internal', origin: 'https://ops.internal' }, true],
    [{ host: 'OPS.internal', origin: 'https://ops.internal' }, true],
    [{ host: '[::1]:9090', origin: 'http://[::1]:9090' }, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://ops.internal:9090' }, false],
    [{ origin: 'null' }, false],
    [{ origin: '' }, false],
    [{ origin: 'http://ops.internal' }, false],
    [{ origin: 'http://ops.internal:9091' }, false],
    [{ origin: 'http://ops.internal.evil.example:9090' }, false],
    [{ origin: 'http://evil.example' }, false],
    [{ origin: 'null', host: undefined }, false],
    [{ origin: 'http://', host: '' }, false],
  ])('%j is our own: %j', (headers, expected) => {
    expect(isFromHere(from(headers))).toBe(expected);
  });

  test('TLS is recognized by the Origin that the browser sends', () => {
    expect(isOverTls(from({ origin: 'https://ops.internal' }))).toBe(true);
    expect([isOverTls(from({})), isOverTls(from({ origin: 'http://ops.internal' })), isOverTls(from({ origin: 'null' }))]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

test('forms that change something are written in one place, and no page has raw HTML, styles or scripts of its own', () => {
  const files = readdirSync(ROOM, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const holding = (pattern: RegExp): string[] => files.filter((name) => pattern.test(readFileSync(`${ROOM}/${name}`, 'utf8')));
  expect(holding(/method="post"/)).toEqual(['form.ts']);
  expect(holding(/new Html\(/)).toEqual([]);
  expect(holding(/\sstyle="|<style|\son[a-z]+="|javascript:/)).toEqual([]);
});
