// Formats an event for its receiver: a CloudEvents 1.0 object in JSON.
import { keyReport } from '../admin/operations/key-rows.ts';
import { periodReport } from '../admin/operations/periods.ts';
import { teamReport } from '../admin/operations/teams.ts';
import { limitKind } from '../domain/window-limits.ts';
import { minorRoundedDown, minorRoundedUp } from '../domain/money.ts';
import { rfc3339 } from '../domain/period.ts';
import { dateOf, usageReport } from '../domain/usage-days.ts';
import type { EventFacts, LimitReached } from '../ports/outbox.ts';
import type { SentEvent } from '../runtime/event-sender.ts';

export const CLOUD_EVENT_TYPE = 'application/cloudevents+json';

interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: 'lingate';
  /** `lingate.team.created` and so on. */
  readonly type: string;
  readonly time: string;
  /** The team's id; of an engine's event, the engine's name. */
  readonly subject: string;
  readonly datacontenttype: 'application/json';
  readonly data: Readonly<Record<string, unknown>>;
}

export function eventDocument({ id, teamId, atMs, facts, reference }: SentEvent): CloudEvent {
  // An event about the team itself has the reference that the team had then.
  const isOfTeam = facts.kind === 'team_created' || facts.kind === 'team_updated';
  return {
    specversion: '1.0',
    id,
    source: 'lingate',
    type: `lingate.${facts.kind.replace('_', '.')}`,
    time: rfc3339(atMs),
    subject: teamId,
    datacontenttype: 'application/json',
    data: { ...dataOf(teamId, facts), ...(isOfTeam || reference === undefined ? {} : { reference }) },
  };
}

function dataOf(teamId: string, facts: EventFacts): Readonly<Record<string, unknown>> {
  switch (facts.kind) {
    case 'quota_threshold':
      return { percent: facts.percent, ...usageReport(facts.usage) };
    case 'credit_threshold': {
      const { thresholdMinor, balanceMicro, currency } = facts;
      return { threshold_minor: thresholdMinor, balance_minor: minorRoundedDown(balanceMicro), currency };
    }
    case 'limit_reached': {
      const { code, usage } = facts;
      return { code, ...whoseLimit(facts), ...windowOf(facts), ...requiredBy(facts), ...usageReport(usage) };
    }
    case 'period_closed':
      return { ...periodReport(facts.period) };
    case 'usage_day': {
      const { day, characters, requests } = facts;
      return { date: dateOf(day), character_count: characters, request_count: requests };
    }
    case 'team_created':
    case 'team_updated':
      return { ...teamReport(facts.team) };
    case 'team_deleted':
      return { team_id: teamId };
    case 'engine_limit': {
      const { engine, per, most, characters, resetsAtMs } = facts;
      return { engine, per, most, character_count: characters, resets_at: rfc3339(resetsAtMs) };
    }
    case 'document_done': {
      const { documentId, keyId, format, state, code, characters } = facts;
      const error = code === undefined ? {} : { code };
      return { team_id: teamId, key_id: keyId, document_id: documentId, format, status: state, ...error, character_count: characters };
    }
    case 'key_created':
    case 'key_updated':
    case 'key_revoked':
      return { ...keyReport(facts.key), team_id: teamId };
  }
}

function whoseLimit({ keyId, tag, testKeys }: LimitReached): Readonly<Record<string, unknown>> {
  if (testKeys === true) return { limit_of: 'test_keys' };
  return { key_id: keyId, tag };
}

function windowOf({ window, keyId, tag }: LimitReached): Readonly<Record<string, unknown>> {
  if (window === undefined) return {};
  const ofKey = keyId === undefined ? 'team' : 'key';
  return { window: window.per, limit_of: limitKind(tag === undefined ? ofKey : 'tag', window).name };
}

/** What the refused request needed. */
function requiredBy(facts: LimitReached): Readonly<Record<string, unknown>> {
  if (facts.code === 'credit_exhausted') return { required_minor: minorRoundedUp(facts.requiredMicro) };
  return facts.requiredCharacters === undefined ? {} : { required_characters: facts.requiredCharacters };
}
