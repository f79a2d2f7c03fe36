// Sessions and anti-forgery tokens, on a virtual clock: after their time they are worthless.
import { describe, expect, test } from 'vitest';
import { Operators } from '../../../src/admin/operators.ts';
import { isSame, Sessions, SignInFormTokens } from '../../../src/console/sessions.ts';

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

  test('that has ended stays ended, and the others are unaffected', () => {
    const sessions = new Sessions(OPERATORS, () => 0);
    const [mine, other] = [sessions.start(OPERATOR), sessions.start(OPERATOR)];
    sessions.end(sessions.find(mine)!);
    expect(sessions.find(mine)).toBeUndefined();
    expect(sessions.find(other)).toBeDefined();
  });
});

test('the token of the sign-in form is good for an hour or two, in the process that made it', () => {
  let now = 0.25 * HOUR_MS;
  const tokens = new SignInFormTokens(() => now);
  const token = tokens.next();
  for (const hours of [0.25, 0.99, 1.25, 1.99]) {
    now = hours * HOUR_MS;
    expect([hours, tokens.isGood(token)]).toEqual([hours, true]);
  }
  now = 2 * HOUR_MS;
  expect(['', token, `${token}x`].map((forged) => tokens.isGood(forged))).toEqual([false, false, false]);
  now = 0;
  expect(new SignInFormTokens(() => now).isGood(token)).toBe(false);
});

test('equal texts of any length are found equal, others are not', () => {
  expect([isSame('a', 'a'), isSame('a', 'b'), isSame('a', 'aa'), isSame('', 'a')]).toEqual([true, false, false, false]);
});
