// What plans allow for documents, and how long characters are held before they are counted.
import type { Plan } from './plan.ts';

const DOCUMENT_CHARACTERS = 50_000;
const DOCUMENTS_AT_ONCE = 3;

/**
 * The lease of what is held until the text is counted, which is a matter of seconds. If it takes longer, the count's own reservation
 * decides alone.
 */
export const UNCOUNTED_MS = 600_000;

export interface PlanDocuments {
  readonly characters: number;
  readonly atOnce: number;
}

/** A plan that this configuration does not have has the defaults. */
export function planDocuments(plan: Plan | undefined): PlanDocuments {
  return { characters: plan?.document_characters ?? DOCUMENT_CHARACTERS, atOnce: plan?.documents_at_once ?? DOCUMENTS_AT_ONCE };
}
