// Every page of the sample console, by a name for it.
import { dayOf } from '../../src/domain/period.ts';
import { lastMonths } from '../../src/domain/usage-days.ts';
import type { SampleConsole } from './sample-console.ts';
import { SAMPLE_TAG } from './sample-teams.ts';

/** Paths below `/console`. */
export function samplePages({ teamId, keyId, glossaryId }: SampleConsole): Readonly<Record<string, string>> {
  const team = `/teams/${teamId}`;
  const [lastMonth] = lastMonths(dayOf(Date.now()), 2);
  return {
    overview: '',
    teams: '/teams',
    'teams-filtered': '/teams?standing=near_limit&plan=free',
    'new-team': '/teams/new',
    requests: '/requests',
    documents: '/documents',
    'documents-of-team': `/documents?team=${teamId}`,
    usage: '/usage',
    invoices: `/invoices?month=${lastMonth}`,
    'invoices-open': '/invoices?open=true',
    'invoices-to-print': `/invoices/print?month=${lastMonth}`,
    team,
    key: `${team}/keys/${keyId}`,
    'key-rotation': `${team}/keys/${keyId}/rotate`,
    'key-revocation': `${team}/keys/${keyId}/revoke`,
    'team-deletion': `${team}/delete`,
    tags: `${team}/tags`,
    tag: `${team}/tag?tag=${SAMPLE_TAG}`,
    'tag-disabled': `${team}/tag?tag=b2b%2Feu`,
    glossaries: `${team}/glossaries`,
    'glossary-deletion': `${team}/glossaries/${glossaryId}/delete`,
    plans: '/plans',
    'plan-question': '/plans/pro/apply',
    audit: '/audit',
    'audit-of-team': `/audit?team=${teamId}`,
    'audit-filtered': '/audit?actor=ops&action=revokeKey',
    'no-page': '/nowhere',
  };
}
