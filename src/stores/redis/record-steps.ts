// A change of a group as steps of the function that makes it (lua/records.lua), and the group as that function answers it.
import { isLarge } from '../../domain/entries-text.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { GroupChange, GroupHead, KeyWrite, NewEvent, RecordName } from '../../ports/record-space.ts';
import type { FunctionAnswer } from './function-caller.ts';
import { guardOf, statusByte } from './packed-team.ts';
import { changedRecord, describedPeriod, newRecord, readKey, readTeam } from './team-codec.ts';

/** How often a change is decided again that another process has outdated. */
export const DECISIONS_MAX = 100;
export const UNSETTLED: StoreUnavailable = { kind: 'unavailable', cause: 'unsettled' };

/** A step of the function: its word and arguments. */
type RecordStep = readonly [word: StepWord | KeyStepWord, ...args: (string | Buffer)[]];
type StepWord = 'team' | 'same' | 'absent' | 'put' | 'remove' | 'index' | 'unindex' | 'attach' | 'hold' | 'detach' | 'event';
type KeyStepWord = 'same_key' | 'put_key';

/** A group as it was read, and its key as it is stored. */
export interface ReadGroup {
  readonly head: GroupHead;
  readonly rawKey?: RawKey | undefined;
}

interface RawKey {
  readonly record: string;
  readonly state: Buffer;
  /** Empty if it has none. */
  readonly packedLimits: Buffer;
}

/** The values of the records that a change has read, in order of their names. */
export type RecordValues = readonly (string | undefined)[];

/** From the answer of `read_group`, or of a change that another one of the key has outdated; `undefined` if there is no such group. */
export function readGroup(
  teamId: string,
  keyId: string | undefined,
  { values, nowMs }: Pick<FunctionAnswer, 'values' | 'nowMs'>,
): ReadGroup | undefined {
  const [description, ...ofKey] = values;
  if (description === undefined) return undefined;
  const { limits } = readTeam(teamId, description);
  const rawKey = readRawKey(ofKey);
  const key = rawKey && readKey({ keyId: keyId!, teamId }, rawKey.record, rawKey, nowMs);
  return { head: { nowMs, limits, period: describedPeriod(description), key }, rawKey };
}

/** `values` are the record, the state and the limits; a key without a state does not exist. */
function readRawKey(values: readonly unknown[]): RawKey | undefined {
  const [record = '', state = '', packedLimits = Buffer.of()] = values as readonly Buffer[];
  return record.length === 0 || state.length === 0 ? undefined : { record: String(record), state: Buffer.from(state), packedLimits };
}

/** Whether the key stops working, which must not wait. */
export function isUrgent({ record: { status } }: KeyWrite): boolean {
  return status === 'revoked' || status === 'disabled';
}

/** What the change writes; empty if that is nothing. */
export function madeSteps(
  { rawKey }: ReadGroup,
  { key, put = [], remove = [], index = [], unindex = [], attach = [], detach = [], event }: GroupChange<unknown>,
): readonly RecordStep[] {
  return [
    ...(key === undefined ? [] : keySteps(rawKey, key)),
    ...remove.map(({ table, id }): RecordStep => ['remove', table, id]),
    ...unindex.map((entry): RecordStep => ['unindex', entry.index, entry.id]),
    ...put.map(({ table, id, value }): RecordStep => ['put', table, id, value]),
    ...index.map((entry): RecordStep => ['index', entry.index, entry.id]),
    ...attach.map(({ blobId, pieces }): RecordStep => {
      const [piece] = pieces;
      return isLarge(pieces) || piece === undefined ? ['hold', blobId, String(pieces.length)] : ['attach', blobId, Buffer.from(piece)];
    }),
    ...detach.map((blobId): RecordStep => ['detach', blobId]),
    ...(event === undefined ? [] : [eventStep(event)]),
  ];
}

const NO_KEY: RawKey = { record: '', state: Buffer.of(), packedLimits: Buffer.of() };

function keySteps(known: RawKey = NO_KEY, { record: key, digest }: KeyWrite): readonly RecordStep[] {
  const { keyId, label, createdAtMs } = key;
  const record = digest === undefined ? changedRecord(known.record, label) : newRecord({ ...key, digest }, createdAtMs);
  return [
    ['same_key', keyId, known.record, known.state.subarray(0, 1), known.packedLimits],
    ['put_key', keyId, record, Buffer.of(statusByte(key)), guardOf(key)],
  ];
}

function eventStep({ id, numbered, facts }: NewEvent): RecordStep {
  return ['event', id, numbered === true ? '1' : '', JSON.stringify(facts)];
}

/** What the function takes after the arguments of the audit: first what must be as it was read. */
export function changeArguments(
  { head }: ReadGroup,
  made: readonly RecordStep[],
  names: readonly RecordName[] = [],
  values: RecordValues = [],
): readonly (string | Buffer)[] {
  const team: readonly RecordStep[] = head.limits === undefined ? [] : [['team']];
  const read = names.map(({ table, id }, i): RecordStep => {
    const value = values[i];
    return value === undefined ? ['absent', table, id] : ['same', table, id, value];
  });
  const steps = [...team, ...read, ...made];
  return [String(steps.length), ...steps.flat()];
}
