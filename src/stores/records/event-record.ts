// Events as shared records, for stores that keep them there: their form, and what an operation that causes one writes.
import { eventIds, RULES_FOLLOWED_MS } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import type { EventFacts, KeptEvent } from '../../ports/outbox.ts';
import type { GroupChange, IndexEntry, NewEvent, RecordName, StoredRecord } from '../../ports/record-space.ts';

/** An event's record. */
export interface StoredEvent {
  readonly atMs: number;
  readonly dueMs: number;
  readonly tries: number;
  readonly facts: EventFacts;
}

/** Who sends events, and until when. */
interface Sender {
  readonly holder: string;
  readonly untilMs: number;
  /** For processes without rules of their own, in a store whose operations write events about usage. */
  readonly rules?: EventRules | undefined;
}

/** What is written to the shared records. */
export type EventWrites = Required<Pick<GroupChange<unknown>, 'put' | 'remove' | 'index' | 'unindex'>>;

export const SENDER: RecordName = { table: 'senders', id: 'events' };
const TIME_DIGITS = 15;
const NO_WRITES: EventWrites = { put: [], remove: [], index: [], unindex: [] };

export function eventName({ id, teamId }: Pick<KeptEvent, 'id' | 'teamId'>): RecordName {
  return { table: 'events', id: `${teamId} ${id}` };
}

/** The event of a record, or of an entry of the index. */
export function eventOfName(id: string): Pick<KeptEvent, 'id' | 'teamId'> {
  const space = id.indexOf(' ');
  return { teamId: id.slice(0, space), id: id.slice(space + 1) };
}

/** Begins with when it is due. */
export function dueEntry(name: RecordName, { dueMs }: StoredEvent): IndexEntry {
  return { index: 'events_by_due', id: `${timeDigits(dueMs)} ${name.id}` };
}

export function timeDigits(ms: number): string {
  return String(ms).padStart(TIME_DIGITS, '0');
}

export function readEvent(value: string): StoredEvent {
  return JSON.parse(value) as StoredEvent;
}

export function readSender(value: string | undefined): Sender | undefined {
  return value === undefined ? undefined : (JSON.parse(value) as Sender);
}

export function writtenSender(sender: Sender): StoredRecord {
  return { ...SENDER, value: JSON.stringify(sender) };
}

/** The record of an event, due at once, and its entry. */
export function newEvent(event: KeptEvent): Pick<EventWrites, 'put' | 'index'> {
  const { atMs, facts } = event;
  const [name, stored] = [eventName(event), { atMs, dueMs: atMs, tries: 0, facts }];
  return { put: [{ ...name, value: JSON.stringify(stored) }], index: [dueEntry(name, stored)] };
}

/** The event of a record. */
export function keptEvent(id: string, value: string): KeptEvent {
  const { atMs, facts } = readEvent(value);
  return { ...eventOfName(id), atMs, facts };
}

/** The shared records that `eventWrites` has to know: who sends events, and how many changes of the team were counted. */
export function eventNames(teamId: string): readonly RecordName[] {
  return [SENDER, countName(teamId)];
}

/**
 * What an operation that causes an event writes to the shared records, atomically with everything else that it writes; nothing if no
 * gateway sends events or did so within a day. `values` are those of `eventNames`, at the same moment.
 */
export function eventWrites(teamId: string, values: readonly (string | undefined)[], nowMs: number, event: NewEvent): EventWrites {
  const [sender, count = '0'] = values;
  if (!isSending(sender, nowMs)) return NO_WRITES;
  const [serial, isNumbered] = [Number(count) + 1, event.numbered === true];
  const id = isNumbered ? eventIds.numbered(event.id, { atMs: nowMs, serial }) : event.id;
  const { put, index } = newEvent({ id, teamId, atMs: nowMs, facts: event.facts });
  return { ...NO_WRITES, put: isNumbered ? [...put, { ...countName(teamId), value: String(serial) }] : put, index };
}

function isSending(sender: string | undefined, nowMs: number): boolean {
  const until = readSender(sender)?.untilMs;
  return until !== undefined && until > nowMs - RULES_FOLLOWED_MS;
}

/** Whether an event, by its record, outlives the deletion of its team: if it has neither name nor label. */
export function outlivesTeam(value: string, keepUsage: boolean): boolean {
  const { kind } = readEvent(value).facts;
  return kind === 'team_deleted' || (keepUsage && (kind === 'credit_threshold' || kind === 'period_closed' || kind === 'usage_day'));
}

function countName(teamId: string): RecordName {
  return { table: 'reported', id: `${teamId} count` };
}
