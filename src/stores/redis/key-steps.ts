// A change of a key as steps of the function that changes its team's records (lua/keys.lua).
import type { KeyWrite, NewEvent } from '../../ports/record-space.ts';
import { guardOf, statusByte } from './packed-team.ts';
import { changedRecord, newRecord } from './team-codec.ts';

/** A step of the function (lua/records.lua): its word and arguments. */
export type RecordStep = readonly [word: StepWord | KeyStepWord, ...args: (string | Buffer)[]];
type StepWord = 'team' | 'same' | 'absent' | 'put' | 'remove' | 'index' | 'unindex' | 'attach' | 'hold' | 'detach' | 'event';
type KeyStepWord = 'same_key' | 'put_key';

/** A key as it is stored. */
export interface RawKey {
  readonly record: string;
  readonly state: Buffer;
  /** Empty if it has none. */
  readonly packedLimits: Buffer;
}

const NONE: RawKey = { record: '', state: Buffer.of(), packedLimits: Buffer.of() };

/** `values` are the record, the state and the limits; a key without a state does not exist. */
export function readRawKey(values: readonly unknown[]): RawKey | undefined {
  const [record = '', state = '', packedLimits = Buffer.of()] = values as readonly Buffer[];
  return record.length === 0 || state.length === 0 ? undefined : { record: String(record), state: Buffer.from(state), packedLimits };
}

/** Whether the key stops working, which must not wait. */
export function isUrgent({ record: { status } }: KeyWrite): boolean {
  return status === 'revoked' || status === 'disabled';
}

export function keySteps(known: RawKey = NONE, { record: key, digest }: KeyWrite): readonly RecordStep[] {
  const { keyId, label, createdAtMs } = key;
  const record = digest === undefined ? changedRecord(known.record, label) : newRecord({ ...key, digest }, createdAtMs);
  return [
    ['same_key', keyId, known.record, known.state.subarray(0, 1), known.packedLimits],
    ['put_key', keyId, record, Buffer.of(statusByte(key)), guardOf(key)],
  ];
}

export function eventStep({ id, numbered, facts }: NewEvent): RecordStep {
  return ['event', id, numbered === true ? '1' : '', JSON.stringify(facts)];
}

/** What the function takes after the arguments of the audit. */
export function argumentsOf(steps: readonly RecordStep[]): readonly (string | Buffer)[] {
  return [String(steps.length), ...steps.flat()];
}
