// Assertions for every answer to malformed input: no 5xx, and no word of the request in its fields.
import { expect } from 'vitest';
import type { HttpResponse } from '../../support/raw-http.ts';
import { faultsOf } from './clean-answer.ts';

/** Every field is from a fixed list, with a value from a fixed set; problem documents are valid; never a 5xx. */
export function expectClean(response: HttpResponse): void {
  expect(faultsOf(response)).toEqual([]);
}

/** The code of a problem document; `undefined` for any other answer. */
export function codeOf(response: HttpResponse): string | undefined {
  return response.status < 400 ? undefined : (response.json() as { readonly code: string }).code;
}

export function detailOf(response: HttpResponse): string {
  return (response.json() as { readonly detail: string }).detail;
}
