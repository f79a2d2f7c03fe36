// Events as shared records: their form, those of what operators do, and what an operation that causes one writes.
import { eventIds, RULES_FOLLOWED_MS } from '../../domain/event-rules.ts';
import type { EventFacts, OutboxEvent } from '../../ports/outbox.ts';
import type { NewEvent, RecordName } from '../../ports/record-space.ts';
import type { KeyRecord, Team } from '../../ports/team-registry.ts';
import { joined, JsonTable, timeDigits } from './json-table.ts';
import type { Writes } from './json-table.ts';

interface StoredEvent {
  readonly atMs: number;
  readonly dueMs: number;
  readonly tries: number;
  readonly facts: EventFacts;
}

/** Who sends events, and until when. */
interface Sender {
  readonly holder: string;
  readonly untilMs: number;
}

/** What is written to the shared records. */
export type EventWrites = Required<Writes>;

export const EVENTS = new JsonTable<StoredEvent>('events', (id, { dueMs }) => [
  { index: 'events_by_due', id: `${timeDigits(dueMs)} ${id}` },
]);
export const SENDERS = new JsonTable<Sender>('senders');
export const SENDER = 'events';

/** The id of an event's record. */
export function eventRecordId({ id, teamId }: Pick<OutboxEvent, 'id' | 'teamId'>): string {
  return `${teamId} ${id}`;
}

/** The event of a record. */
export function eventOfRecord(recordId: string): Pick<OutboxEvent, 'id' | 'teamId'> {
  const space = recordId.indexOf(' ');
  return { teamId: recordId.slice(0, space), id: recordId.slice(space + 1) };
}

/** Due at once. */
export function newEvent(event: OutboxEvent): Pick<EventWrites, 'put' | 'index'> {
  const { atMs, facts } = event;
  return EVENTS.put(eventRecordId(event), { atMs, dueMs: atMs, tries: 0, facts });
}

/** The shared records that `eventWrites` has to know: who sends events, and how many changes of the team were counted. */
export function eventNames(teamId: string): readonly RecordName[] {
  return [SENDERS.name(SENDER), countName(teamId)];
}

/**
 * What an operation that causes an event writes to the shared records, atomically with everything else that it writes; nothing if no
 * gateway sends events or did so within a day. `values` are those of `eventNames`, at the same moment.
 */
export function eventWrites(teamId: string, values: readonly (string | undefined)[], nowMs: number, event: NewEvent): EventWrites {
  const [sender, count = '0'] = values;
  const untilMs = SENDERS.read(sender)?.untilMs ?? -Infinity;
  if (untilMs <= nowMs - RULES_FOLLOWED_MS) return joined();
  const serial = Number(count) + 1;
  const id = event.numbered === true ? eventIds.numbered(event.id, { atMs: nowMs, serial }) : event.id;
  const counted = event.numbered === true ? [{ ...countName(teamId), value: String(serial) }] : [];
  return joined(newEvent({ id, teamId, atMs: nowMs, facts: event.facts }), { put: counted });
}

/** Whether an event, by its record, outlives the deletion of its team: if it has neither name nor label. */
export function outlivesTeam(value: string, keepUsage: boolean): boolean {
  const { kind } = EVENTS.read(value).facts;
  return kind === 'team_deleted' || (keepUsage && (kind === 'credit_threshold' || kind === 'period_closed' || kind === 'usage_day'));
}

function countName(teamId: string): RecordName {
  return { table: 'reported', id: `${teamId} count` };
}

export function teamEvent(kind: 'team_created' | 'team_updated', team: Team): NewEvent {
  const facts = { kind, team };
  if (kind === 'team_updated') return { id: eventIds.updated(team.teamId), numbered: true, facts };
  return { id: eventIds.once(team.teamId, 'created'), facts };
}

export function deletionEvent(teamId: string): NewEvent {
  return { id: eventIds.once(teamId, 'deleted'), facts: { kind: 'team_deleted' } };
}

export function keyEvent(kind: 'key_created' | 'key_updated' | 'key_revoked', key: KeyRecord): NewEvent {
  const facts = { kind, key };
  if (kind === 'key_updated') return { id: eventIds.updated(key.keyId), numbered: true, facts };
  return { id: eventIds.once(key.keyId, kind === 'key_created' ? 'created' : 'revoked'), facts };
}
