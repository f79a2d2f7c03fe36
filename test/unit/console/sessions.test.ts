// Sessions and anti-forgery tokens, on a virtual clock: after an hour they are worthless.
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
