// Checks what people write into the console's fields: names, labels, modes, amounts of money. A fault says what would be right.
import type { KeyMode } from '../domain/api-key.ts';
import { MINOR_MAX } from '../domain/money.ts';
import { judgeRecordName, RECORD_NAME_CHARACTERS_MAX } from '../domain/record-name.ts';
import { minorDigits } from './shown.ts';

export type JudgedField<T> = { readonly value: T } | { readonly fault: string };

/** What is wrong with a form's fields, by their names. */
export type FieldFaults = Readonly<Record<string, string>>;

/** What a browser lets people type: it counts in UTF-16 units, of which a character has two at most. */
export const NAME_UNITS_MAX = 2 * RECORD_NAME_CHARACTERS_MAX;

export function nameField(sent: string): JudgedField<string> {
  const judged = judgeRecordName(sent);
  return 'fault' in judged ? { fault: `This name ${judged.fault}.` } : { value: judged.name };
}

/** A label may be left out. */
export function labelField(sent: string): JudgedField<string> {
  if (sent.trim() === '') return { value: '' };
  const judged = judgeRecordName(sent);
  return 'fault' in judged ? { fault: `This label ${judged.fault}.` } : { value: judged.name };
}

export function modeField(sent: string): JudgedField<KeyMode> {
  return sent === 'live' || sent === 'test' ? { value: sent } : { fault: 'Choose live or test.' };
}

/** In minor units; digits and a point, as many behind it as the currency has. */
export function amountField(sent: string, currency: string): JudgedField<number> {
  const digits = minorDigits(currency);
  const example = digits === 0 ? '50' : `50.${'0'.repeat(digits)}`;
  const [, whole, , part = ''] = /^(\d{1,12})(\.(\d+))?$/.exec(sent.trim()) ?? [];
  if (whole === undefined || part.length > digits) return { fault: `Write an amount in ${currency} such as ${example}.` };
  const minor = Number(whole) * 10 ** digits + Number(part.padEnd(digits, '0'));
  if (minor === 0) return { fault: 'Write more than nothing.' };
  return minor > MINOR_MAX ? { fault: 'This is more than a team can have.' } : { value: minor };
}

export function faultOf(judged: JudgedField<unknown>): string | undefined {
  return 'fault' in judged ? judged.fault : undefined;
}
