// A scripted offer: one engine that can do everything, or what a test specifies, for a list of languages.
import { EngineOffer, EngineRoute } from '../../src/domain/engine-offer.ts';
import type { EngineOffers, OfferedCapabilities } from '../../src/domain/engine-offer.ts';
import type { Languages } from '../../src/domain/languages.ts';

const ABLE: OfferedCapabilities = {
  formats: ['text', 'html', 'xml'],
  formality: true,
  glossaries: true,
  instructions: true,
  styles: true,
  detection: true,
};

export function offersOver(languages: Languages, can: Partial<OfferedCapabilities> = {}): EngineOffers {
  const engine = { name: 'default', can: { ...ABLE, ...can }, pairs: undefined };
  const route = new EngineRoute([engine]);
  const any = new EngineOffer(languages, [engine], (source, target) => (languages.offers(source, target) ? route : undefined));
  return { any, byPlan: false, isRouted: false, of: () => any };
}
