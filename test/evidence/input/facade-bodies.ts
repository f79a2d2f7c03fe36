// Test bodies for the facades: forms and JSON, and bytes.
import { expect } from 'vitest';
import type { HttpResponse } from '../../support/raw-http.ts';
import { BYTE_CASES } from './bytes-of-text.ts';
import { forEachOf } from './gateways.ts';
import type { Ask, InputGateway } from './gateways.ts';

export const AT_ONCE = 8;
export const FORM = 'application/x-www-form-urlencoded';

/** A body, and its result in the words of its API. */
export interface Case<Reading> {
  readonly name: string;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly reading: Reading;
}

export const form = <Reading>(name: string, body: string | Uint8Array, reading: Reading): Case<Reading> => ({
  name,
  type: FORM,
  body,
  reading,
});

/** A string is sent unchanged. */
export const json = <Reading>(name: string, body: unknown, reading: Reading): Case<Reading> => ({
  name,
  type: 'application/json',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  reading,
});

/** Every case of bytes, as a body of an API whose texts are the member `member`: charged by code points, or refused. */
export async function expectBytesRead(
  input: InputGateway,
  post: (ask: Ask) => Promise<HttpResponse>,
  member: 'text' | 'q',
  expectSound: (answer: HttpResponse) => unknown,
  inWords: (body: Uint8Array) => Uint8Array = (body) => body,
): Promise<void> {
  const before = await input.charged();
  const cases = BYTE_CASES.map(({ name, body, reading }) => ({ name, body: inWords(body), reading }));
  const answers = await forEachOf(cases, AT_ONCE, ({ body }) => post({ body }));
  expect(answers.map(({ status }, i) => [cases[i]!.name, status])).toEqual(
    cases.map(({ name, reading }) => [name, typeof reading === 'number' ? 200 : 400]),
  );
  for (const [i, answer] of answers.entries()) {
    expectSound(answer);
    const seen = input.engineSaw(answer);
    const sent = seen && (JSON.parse(Buffer.from(cases[i]!.body).toString()) as Record<string, unknown>)[member];
    expect(seen && (JSON.parse(seen.body) as { text: unknown }).text).toEqual(sent);
  }
  const sum = cases.reduce((total, { reading }) => total + (typeof reading === 'number' ? reading : 0), 0);
  expect((await input.charged()) - before).toBe(sum);
}
