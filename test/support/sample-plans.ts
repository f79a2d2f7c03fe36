// A plan of each billing, for tests of what is reported about them.
import type { Plan } from '../../src/domain/plan.ts';

const BASE = { requests_per_second: 50, max_characters_per_request: 100, max_glossaries: 1, currency: 'EUR' };

/** 1,000 characters a month, and overage for up to 10 minor units. */
export const QUOTA_SAMPLE = {
  ...BASE,
  billing: 'quota',
  characters: 1000,
  period: 'P1M',
  overage_cap_minor: 10,
  overage_minor_per_million: 2000,
} satisfies Plan;

export const CREDIT_SAMPLE = { ...BASE, billing: 'credit', credit_minor_per_million: 2500 } satisfies Plan;
