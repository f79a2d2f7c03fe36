// The encoding of events that functions write (lua/outbox.lua): a time, then texts with their lengths; and the list of all
// teams' events.
import { withLimits } from '../../domain/key-limits.ts';
import type { Counted, WindowName } from '../../domain/window-limits.ts';
import type { EventFacts, KeptEvent } from '../../ports/outbox.ts';
import { packClosed } from './packed-team.ts';
import { readClosed } from './period-record.ts';
import type { RedisConnection } from './redis-connection.ts';
import { EVENTS_KEY, outboxKey, TRIES_KEY } from './redis-keys.ts';
import { readReport, readTeam } from './team-codec.ts';

export function readEvent(id: string, teamId: string, packed: Buffer): KeptEvent {
  const [kind, ...values] = textsOf(packed.subarray(8));
  const atMs = packed.readDoubleBE(0);
  return { id, teamId, atMs, facts: factsOf(teamId, atMs, String(kind), values) };
}

/** Stores and lists an event of another store as it was there. */
export async function writeEvent(redis: RedisConnection, event: KeptEvent, dueMs: number, tries: number): Promise<void> {
  const member = memberOf(event.teamId, event.id);
  await redis.hset(outboxKey(event.teamId), event.id, packEvent(event));
  await redis.zadd(EVENTS_KEY, dueMs, member);
  if (tries > 0) await redis.hset(TRIES_KEY, member, tries);
}

/** As functions do if it contains no names, otherwise as JSON. */
function packEvent({ atMs, facts }: KeptEvent): Buffer {
  const at = Buffer.alloc(8);
  at.writeDoubleBE(atMs);
  const texts = wordsOf(facts).map((text) => Buffer.from(text));
  return Buffer.concat([at, ...texts.flatMap((text) => [lengthOf(text), text])]);
}

/** Events that outlive their team have their own kinds (lua/erase.lua). */
function wordsOf(facts: EventFacts): (string | Buffer)[] {
  switch (facts.kind) {
    case 'credit_threshold':
      return ['credit', String(facts.thresholdMinor), String(facts.balanceMicro), facts.currency];
    case 'period_closed':
      return ['period', String(facts.period.number), packClosed(facts.period)];
    case 'usage_day':
      return ['day', String(facts.day), String(facts.characters), String(facts.requests)];
    case 'team_deleted':
      return ['deleted'];
    case 'quota_threshold':
    case 'limit_reached':
    case 'team_created':
    case 'team_updated':
    case 'key_created':
    case 'key_updated':
    case 'key_revoked':
    case 'engine_limit':
    case 'document_done':
      return ['facts', JSON.stringify(facts)];
  }
}

function lengthOf(text: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return length;
}

function factsOf(teamId: string, atMs: number, kind: string, values: readonly Buffer[]): EventFacts {
  const number = (at: number): number => Number(String(values[at]));
  switch (kind) {
    case 'created':
    case 'updated':
      return { kind: `team_${kind}`, team: readTeam(teamId, values) };
    case 'deleted':
      return { kind: 'team_deleted' };
    case 'quota': {
      const { usage } = readReport(teamId, [textsOf(values[1]!), textsOf(values[2]!)], atMs);
      return { kind: 'quota_threshold', percent: number(0), usage };
    }
    case 'late': {
      // Which keys were used in a closed period is unknown.
      const { plan, limits, startMs, endMs, characters, allowanceUsed } = readClosed(number(2), values[3]!);
      const team = { ...readTeam(teamId, textsOf(values[1]!)), plan, limits };
      const usage = { team, periodStartMs: startMs, periodEndMs: endMs, characters, allowanceUsed, keys: [] };
      return { kind: 'quota_threshold', percent: number(0), usage };
    }
    case 'refused': {
      const { usage } = readReport(teamId, [textsOf(values[3]!), textsOf(values[4]!)], atMs);
      const keyId = String(values[2]);
      const tag = String(values[6] ?? '');
      const whose = { ...(keyId === '' ? {} : { keyId }), ...(tag === '' ? {} : { tag }) };
      const what = { kind: 'limit_reached', ...whose, usage } as const;
      const by = String(values[5] ?? '');
      if (by === 'test_keys') return { ...what, code: 'quota_exceeded', requiredCharacters: number(1), testKeys: true };
      const [per, counts] = by.split(' ') as [WindowName | '', Counted?];
      if (per !== '' && counts !== undefined) {
        const code = String(values[0]) === 'rate_limited' ? 'rate_limited' : 'quota_exceeded';
        const required = values[1]!.length === 0 ? {} : { requiredCharacters: number(1) };
        return { ...what, code, window: { per, counts }, ...required };
      }
      return String(values[0]) === 'credit_exhausted'
        ? { ...what, code: 'credit_exhausted', requiredMicro: number(1) }
        : { ...what, code: 'quota_exceeded', requiredCharacters: number(1) };
    }
    case 'credit':
      return { kind: 'credit_threshold', thresholdMinor: number(0), balanceMicro: number(1), currency: String(values[2]) };
    case 'period':
      return { kind: 'period_closed', period: readClosed(number(0), values[1]!) };
    case 'day':
      return { kind: 'usage_day', day: number(0), characters: number(1), requests: number(2) };
    case 'facts':
      return withLimits(JSON.parse(String(values[0])) as EventFacts);
    default:
      throw new Error(`an event of an unknown kind: ${kind}`);
  }
}

function textsOf(packed: Buffer): Buffer[] {
  const texts: Buffer[] = [];
  for (let at = 0; at < packed.length;) {
    const length = packed.readUInt32BE(at);
    texts.push(packed.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return texts;
}

/** Team ids contain no space. */
export function memberOf(teamId: string, eventId: string): string {
  return `${teamId} ${eventId}`;
}

/** Adds a team's events to the sender's list, due immediately. The events themselves must already be in their team's slot. */
export async function listEvents(redis: RedisConnection, teamId: string, nowMs: number): Promise<void> {
  const ids = await redis.hkeys(outboxKey(teamId));
  if (ids.length > 0) await redis.zadd(EVENTS_KEY, 'NX', ...ids.flatMap((id) => [nowMs, memberOf(teamId, id)]));
}
