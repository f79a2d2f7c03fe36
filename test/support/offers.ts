// A scripted offer: one engine that can do everything, or what a test specifies, for a list of languages.
import { capabilitiesOf, EngineOffer, EngineRoute } from './door/terms.ts';
import type { EngineCapabilities } from '../../src/domain/translation-options.ts';
import type { EngineOffers } from '../../src/domain/engine-offer.ts';
import type { Languages } from '../../src/domain/languages.ts';

/** Every capability, also one that is added later. */
export const ABLE: EngineCapabilities = { ...allOf(true), formats: ['text', 'html', 'xml'] };
/** None of them. */
export const UNABLE: EngineCapabilities = allOf(false);

function allOf(able: boolean): EngineCapabilities {
  const can = Object.entries(capabilitiesOf()) as [string, unknown][];
  return Object.fromEntries(can.map(([name, value]) => [name, typeof value === 'boolean' ? able : value])) as unknown as EngineCapabilities;
}

export function offersOver(languages: Languages, can: Partial<EngineCapabilities> = {}): EngineOffers {
  const engine = { name: 'default', can: { ...ABLE, ...can }, pairs: undefined };
  const route = new EngineRoute([engine]);
  const any = new EngineOffer(languages.all, [engine], (source, target) => (languages.offers(source, target) ? route : undefined));
  return { any, byPlan: false, isRouted: false, of: () => any };
}
