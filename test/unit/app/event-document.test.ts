// Events as their receiver gets them: CloudEvents by the specification's schema, each with the documented members.
import { expect, test } from 'vitest';
import { eventDocument } from '../../../src/app/event-document.ts';
import { eventIds } from '../../../src/domain/event-rules.ts';
import { toMicro } from '../../../src/domain/money.ts';
import type { EventFacts } from '../../../src/ports/outbox.ts';
import type { KeyRecord, Team } from '../../../src/ports/team-registry.ts';
import { GENEROUS_QUOTA } from '../../../src/testing/store/team-under-test.ts';
import { cloudEventFaults } from '../../support/cloud-event.ts';

const AT = Date.parse('2026-11-22T10:00:00.120Z');
const TEAM_ID = '01M81ZT0VKG55TYPC7AJA6EA6R';
const limits = { ...GENEROUS_QUOTA, characterLimit: 100 };
const team: Team = { teamId: TEAM_ID, name: 'Grüße', plan: 'pro', limits, balanceMicro: 0, createdAtMs: AT };
const key: KeyRecord = {
  keyId: '01M81ZT0VKG55TYPC7AJA6EA6S',
  teamId: TEAM_ID,
  display: 'la_live_Ab3d',
  label: 'backend',
  mode: 'live',
  status: 'active',
  limits: {},
  createdAtMs: AT,
  lastUsedAtMs: undefined,
};
const [periodStartMs, periodEndMs] = [Date.parse('2026-11-01T00:00:00Z'), Date.parse('2026-12-01T00:00:00Z')];
const usage = { team, periodStartMs, periodEndMs, characters: 81, allowanceUsed: 0, keys: [] };
/** What both documents of a period say of it. */
const PERIOD = {
  plan: 'pro',
  billing: 'quota',
  period_start: '2026-11-01T00:00:00Z',
  period_end: '2026-12-01T00:00:00Z',
  character_limit: 100,
  overage: { character_count: 0, cost_minor: 0, cap_minor: 0, currency: 'EUR' },
};
const limitReached = (data: object): [string, object] => ['lingate.limit.reached', expect.objectContaining(data) as object];

const CASES: readonly [facts: EventFacts, type: string, data: object][] = [
  [
    { kind: 'quota_threshold', percent: 80, usage: { ...usage, keys: [{ ...key, characters: 81, requests: 3 }] } },
    'lingate.quota.threshold',
    {
      ...PERIOD,
      percent: 80,
      team_id: TEAM_ID,
      requests_per_second: 1000,
      character_count: 81,
      test_character_count: 0,
      keys: [{ display: 'la_live_Ab3d', label: 'backend', mode: 'live', character_count: 81, request_count: 3, last_used_at: null }],
    },
  ],
  [
    { kind: 'credit_threshold', thresholdMinor: 1000, balanceMicro: toMicro(1000) - 1, currency: 'EUR' },
    'lingate.credit.threshold',
    { threshold_minor: 1000, balance_minor: 999, currency: 'EUR' },
  ],
  [
    { kind: 'limit_reached', code: 'quota_exceeded', keyId: key.keyId, requiredCharacters: 20, usage },
    ...limitReached({
      code: 'quota_exceeded',
      key_id: key.keyId,
      required_characters: 20,
      team_id: TEAM_ID,
      character_count: 81,
      character_limit: 100,
    }),
  ],
  [
    {
      kind: 'limit_reached',
      code: 'quota_exceeded',
      testKeys: true,
      requiredCharacters: 20,
      usage: { ...usage, team: { ...team, limits: { ...limits, testAllowance: 30 } }, allowanceUsed: 20 },
    },
    ...limitReached({
      code: 'quota_exceeded',
      limit_of: 'test_keys',
      required_characters: 20,
      test_keys: { character_count: 20, character_limit: 30 },
    }),
  ],
  [
    {
      kind: 'limit_reached',
      code: 'credit_exhausted',
      requiredMicro: toMicro(3) + 1,
      usage: { ...usage, team: { ...team, limits: { ...limits, billing: 'credit' }, balanceMicro: toMicro(2) } },
    },
    ...limitReached({ code: 'credit_exhausted', required_minor: 4, credit: { balance_minor: 2, currency: 'EUR' } }),
  ],
  [
    {
      kind: 'period_closed',
      period: {
        number: 3,
        startMs: periodStartMs,
        endMs: periodEndMs,
        closed: true,
        plan: 'pro',
        limits,
        characters: 90,
        allowanceUsed: 0,
        testCharacters: 3,
        requests: 2,
        credit: { openingMicro: 0, addedMicro: 0, deductedMicro: 0, balanceMicro: 0 },
      },
    },
    'lingate.period.closed',
    { ...PERIOD, closed: true, character_count: 90, test_character_count: 3 },
  ],
  [
    { kind: 'usage_day', day: Date.parse('2026-11-21') / 86_400_000, characters: 12, requests: 2 },
    'lingate.usage.day',
    { date: '2026-11-21', character_count: 12, request_count: 2 },
  ],
  [
    { kind: 'team_created', team },
    'lingate.team.created',
    expect.objectContaining({ team_id: TEAM_ID, name: 'Grüße', plan: 'pro' }) as object,
  ],
  [{ kind: 'team_updated', team }, 'lingate.team.updated', expect.objectContaining({ team_id: TEAM_ID, characters: 100 }) as object],
  [{ kind: 'team_deleted' }, 'lingate.team.deleted', { team_id: TEAM_ID }],
  ...(['done', 'error'] as const).map((state): [EventFacts, string, object] => {
    const code = state === 'error' ? { code: 'key_revoked' } : {};
    return [
      { kind: 'document_done', documentId: 'a-document', keyId: key.keyId, format: 'docx', state, characters: 90, ...code },
      'lingate.document.done',
      { team_id: TEAM_ID, key_id: key.keyId, document_id: 'a-document', format: 'docx', status: state, character_count: 90, ...code },
    ];
  }),
  ...(['created', 'updated', 'revoked'] as const).map((what): [EventFacts, string, object] => [
    { kind: `key_${what}`, key },
    `lingate.key.${what}`,
    expect.objectContaining({ key_id: key.keyId, display: 'la_live_Ab3d', label: 'backend' }) as object,
  ]),
];

test.each(CASES)('$kind', (facts, type, data) => {
  const document = eventDocument({ id: 'an-id', teamId: TEAM_ID, atMs: AT, facts, reference: undefined });
  expect(cloudEventFaults(document)).toEqual([]);
  expect(document).toEqual({
    specversion: '1.0',
    id: 'an-id',
    source: 'lingate',
    type,
    time: '2026-11-22T10:00:00.120Z',
    subject: TEAM_ID,
    datacontenttype: 'application/json',
    data,
  });
});

test('the schema rejects a wrong event', () => {
  const document = eventDocument({ id: '', teamId: TEAM_ID, atMs: AT, facts: { kind: 'team_deleted' }, reference: undefined });
  expect(cloudEventFaults(document)).toHaveLength(1);
  expect(cloudEventFaults({ ...document, id: 'x', time: '22 November' })).toHaveLength(1);
  expect(cloudEventFaults({ ...document, id: 'x', teamId: 'x' })).toHaveLength(1);
});

test('an id is made of the event’s subject, without a dot, because dots separate the signed parts', () => {
  const [period, change] = [
    { startMs: periodStartMs, number: 3 },
    { atMs: AT, serial: 7 },
  ];
  const ids = [
    eventIds.quota(TEAM_ID, period, 80),
    eventIds.numbered(eventIds.credit(TEAM_ID, 0), change),
    eventIds.quotaLimit(TEAM_ID, period),
    eventIds.creditLimit(TEAM_ID, 3),
    eventIds.period(TEAM_ID, { ...period, characters: 1234 }),
    eventIds.day(TEAM_ID, 20_000, 3),
    eventIds.once(TEAM_ID, 'created'),
    eventIds.numbered(eventIds.updated(TEAM_ID), change),
    eventIds.document('01M81ZT0VKG55TYPC7AJA6EA6T'),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9-]{30,80}$/);
  expect(eventIds.day(TEAM_ID, 20_000, 3)).toBe(`${TEAM_ID}-day-20000-3`);
});
