// What tests at the boundary say in the gateway's own terms: keys, plans, money, days, windows, rules, addresses.
export { digestOf, displayOf, newKey } from '../../../src/domain/api-key.ts';
export { capabilitiesOf, TRANSLATION_OPTIONS } from '../../../src/domain/translation-options.ts';
export { EngineOffer, EngineRoute } from '../../../src/domain/engine-offer.ts';
export { ONLY_ENGINE } from '../../../src/domain/engine-routing.ts';
export { eventRules } from '../../../src/domain/event-rules.ts';
export { canonicalRange } from '../../../src/domain/key-limits.ts';
export { toMicro } from '../../../src/domain/money.ts';
export { DAY_MS } from '../../../src/domain/period.ts';
export { limitsOf } from '../../../src/domain/plan.ts';
export { sqlitePathOf } from '../../../src/domain/store-url.ts';
export { dayOfDate, daysOfMonth, monthOf } from '../../../src/domain/usage-days.ts';
export { WINDOWS, writtenWindows } from '../../../src/domain/window-limits.ts';
export { isLoopback } from '../../../src/config/network-address.ts';
export { ulidOf, uuidOf } from '../../../src/plugins/deepl-v2/glossary-model.ts';
