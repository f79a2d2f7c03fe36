// Sample values that the API reference shows: a letter to translate, one team, its usage and its glossary.
import { GLOSSARY_ID } from './operation.ts';

export const letter = {
  text: ['Good morning', 'How are you?'],
  source_lang: 'EN',
  target_lang: 'FR',
  formality: 'prefer_more',
  context: 'The first lines of a letter to a customer.',
};

export const glossary = {
  glossary_id: GLOSSARY_ID,
  name: 'Product names',
  source_lang: 'EN',
  target_lang: 'DE',
  entry_count: 2,
  created_at: '2026-11-01T08:00:00Z',
};

export const entries = { entries: { gateway: 'Lingate', 'key ring': 'Schlüsselbund' } };

const usage = {
  team_id: '01KA6P8A6F3M2R7C5D1G4H9JKT',
  requests_per_second: 50,
  period_start: '2026-11-01T00:00:00Z',
  period_end: '2026-12-01T00:00:00Z',
  character_count: 1200,
  keys: [
    {
      display: 'la_live_Ab3d',
      label: 'backend',
      mode: 'live',
      character_count: 1200,
      request_count: 40,
      last_used_at: '2026-11-21T09:30:00Z',
    },
    { display: 'la_test_9Xk2', label: 'staging', mode: 'test', character_count: 0, request_count: 0, last_used_at: null },
  ],
};

export const quotaUsage = {
  plan: 'pro',
  billing: 'quota',
  ...usage,
  character_limit: 5_000_000,
  overage: { character_count: 0, cost_minor: 0, cap_minor: 10_000, currency: 'EUR' },
};

export const creditUsage = { plan: 'prepaid', billing: 'credit', ...usage, credit: { balance_minor: 900, currency: 'EUR' } };
