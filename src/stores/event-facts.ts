// Facts of events that a store keeps as JSON, also where a version wrote them that knew less.
import type { EventFacts } from '../ports/outbox.ts';

/** Keys had no limits before they could have any. */
export function eventFactsOf(json: string): EventFacts {
  const facts = JSON.parse(json) as EventFacts;
  if ('key' in facts) return { ...facts, key: Object.assign({ limits: {} }, facts.key) };
  if (!('usage' in facts)) return facts;
  const keys = facts.usage.keys.map((key) => Object.assign({ limits: {} }, key));
  return { ...facts, usage: { ...facts.usage, keys } };
}
