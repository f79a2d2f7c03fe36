// Sessions and anti-forgery tokens, on a virtual clock: after an hour they are worthless.
import { describe, expect, test } from 'vitest';
import { Operators } from '../../../src/admin/operators.ts';
import { html } from '../../../src/docs/html.ts';
import { clearedCookie, cookieOf, isSame, sessionCookie, Sessions, SignInFormTokens } from '../../../src/console/sessions.ts';

const HOUR_MS = 3_600_000;
const TOKEN = { name: 'ops', role: 'manage', token: 'x'.repeat(32) } as const;
const OPERATORS = new Operators([TOKEN]);
const OPERATOR = OPERATORS.byToken(TOKEN.token)!;

describe('a session', () => {
  test('lasts an hour from the sign-in, however often it is used', () => {
    let now = 5;
    const sessions = new Sessions(OPERATORS, () => now);
    const cookie = sessions.start(OPERATOR);
    for (now = 5; now < HOUR_MS; now += 60_000) expect(sessions.find(cookie)).toBeDefined();
    now = HOUR_MS + 4;
    expect(sessions.find(cookie)).toBeDefined();
    now = HOUR_MS + 5;
    expect(sessions.find(cookie)).toBeUndefined();
    now = 5;
    expect(sessions.find(cookie)).toBeUndefined();
  });

  test('is found only by its own cookie, which it does not contain', () => {
    const sessions = new Sessions(OPERATORS, () => 0);
    const [mine, other] = [sessions.start(OPERATOR), sessions.start(OPERATOR)];
    const session = sessions.find(mine)!;
    expect(sessions.find(other)).not.toBe(session);
    for (const none of [undefined, '', 'x', session.id, session.formToken, `${mine} `]) expect(sessions.find(none)).toBeUndefined();
    expect(JSON.stringify(session)).not.toContain(mine);
    expect(sessions.find(other)!.formToken).not.toBe(session.formToken);
  });

  test('that has ended stays ended, and the others are unaffected', () => {
    const sessions = new Sessions(OPERATORS, () => 0);
    const [mine, other] = [sessions.start(OPERATOR), sessions.start(OPERATOR)];
    sessions.end(sessions.find(mine)!);
    expect(sessions.find(mine)).toBeUndefined();
    expect(sessions.find(other)).toBeDefined();
  });

  test('ends as the oldest when there are more than a thousand', () => {
    const sessions = new Sessions(OPERATORS, () => 0);
    const cookies = Array.from({ length: 1001 }, () => sessions.start(OPERATOR));
    expect(cookies.map((cookie) => sessions.find(cookie) !== undefined).indexOf(true)).toBe(1);
  });

  test('shows a notice once, and keeps no more than sixteen', () => {
    const sessions = new Sessions(OPERATORS, () => 0);
    const session = sessions.find(sessions.start(OPERATOR))!;
    const names = Array.from({ length: 17 }, (_, at) => session.leave(html`${at}`));
    expect(session.take(names[16]!)?.text).toBe('16');
    expect(session.take(names[16]!)).toBeUndefined();
    expect(session.take(names[0]!)).toBeUndefined();
    expect(session.take('__proto__')).toBeUndefined();
  });
});

describe('the token of the sign-in form', () => {
  test('is good for an hour, in the process that made it', () => {
    let now = 1000.25;
    const tokens = new SignInFormTokens(() => now);
    const token = tokens.next();
    expect(tokens.isGood(token)).toBe(true);
    now += HOUR_MS - 1;
    expect(tokens.isGood(token)).toBe(true);
    now += 1;
    expect(tokens.isGood(token)).toBe(false);
    now = 0;
    expect(tokens.isGood(token)).toBe(false);
    now = 1000.25;
    expect(new SignInFormTokens(() => now).isGood(token)).toBe(false);
  });

  test('cannot be forged, given another time, or combined from two', () => {
    let now = 0;
    const tokens = new SignInFormTokens(() => now);
    const [early, signature] = tokens.next().split('.') as [string, string];
    now = HOUR_MS;
    const [late] = tokens.next().split('.') as [string];
    for (const forged of [
      '',
      '.',
      early,
      `${late}.${signature}`,
      `0${early}.${signature.slice(1)}x`,
      `-1.${signature}`,
      `1e9.${signature}`,
    ]) {
      expect(tokens.isGood(forged)).toBe(false);
    }
  });

  test('equal texts of any length are found equal, others are not', () => {
    expect([isSame('a', 'a'), isSame('a', 'b'), isSame('a', 'aa'), isSame('', 'a')]).toEqual([true, false, false, false]);
  });
});

describe('the cookie', () => {
  test('is for the console only, hidden from scripts, same-site, for an hour, and secure over TLS', () => {
    expect(sessionCookie('s', false)).toBe('lingate_console=s; Path=/console; HttpOnly; SameSite=Strict; Max-Age=3600');
    expect(sessionCookie('s', true)).toBe('lingate_console=s; Path=/console; HttpOnly; SameSite=Strict; Max-Age=3600; Secure');
    expect(clearedCookie(false)).toBe('lingate_console=; Path=/console; HttpOnly; SameSite=Strict; Max-Age=0');
  });

  test.each([
    [undefined, undefined],
    ['', undefined],
    ['other=1', undefined],
    ['xlingate_console=1', undefined],
    ['lingate_console=abc', 'abc'],
    ['other=1; lingate_console=abc ;more=2', 'abc'],
    ['lingate_console=a; lingate_console=b', undefined],
  ])('in the header %j is %j', (header, expected) => {
    expect(cookieOf(header)).toBe(expected);
  });
});
