// The plans that hold when the configuration lists none; the default file shows the same ones.
import type { Plan } from '../domain/plan.ts';

export const DEFAULT_PLANS: Readonly<Record<string, Plan>> = {
  free: {
    billing: 'quota',
    requests_per_second: 5,
    max_characters_per_request: 10_000,
    max_glossaries: 1,
    characters: 500_000,
    period: 'P1M',
    overage_cap_minor: 0,
    overage_minor_per_million: 0,
    currency: 'EUR',
  },
  pro: {
    billing: 'quota',
    requests_per_second: 50,
    max_characters_per_request: 50_000,
    max_glossaries: 20,
    characters: 5_000_000,
    period: 'P1M',
    overage_cap_minor: 10_000,
    overage_minor_per_million: 2000,
    currency: 'EUR',
  },
  prepaid: {
    billing: 'credit',
    requests_per_second: 50,
    max_characters_per_request: 50_000,
    max_glossaries: 100,
    credit_minor_per_million: 2500,
    currency: 'EUR',
  },
};
