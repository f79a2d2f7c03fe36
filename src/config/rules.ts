// Rules between several members of a configuration, and the check of each plan by its billing.
import type { TSchema } from 'typebox';
import type { LanguageTable } from '../domain/languages.ts';
import { overageCharacters } from '../domain/money.ts';
import { faultOfPair } from '../domain/pair-list.ts';
import { CALENDAR_LENGTHS, isOfCalendar } from '../domain/period-rule.ts';
import type { QuotaPlan } from '../domain/plan.ts';
import { STORE_URL_FORMS, storeKindOf } from '../domain/store-url.ts';
import { faultsOf, join, shown } from './faults.ts';
import { forwardFaults } from './forward.ts';
import type { Fault } from './faults.ts';
import { nearest } from './nearest.ts';
import { formatNetworkAddress, parseNetworkAddress } from './network-address.ts';
import { withDefaults } from './plain-schema.ts';
import { CreditPlanSchema, PLAN_NAME, QuotaPlanSchema } from './schema.ts';
import type { ConfigFile } from './schema.ts';

/** Per request (interface, Limits). */
export const ENGINE_ATTEMPTS = 2;

const BILLINGS: Readonly<Record<string, TSchema>> = { quota: QuotaPlanSchema, credit: CreditPlanSchema };
/** Included and paid characters together; sums of a few such numbers are still exact. */
const PERIOD_CHARACTERS_MAX = 1_000_000_000_000_000;
const SECOND_MS = 1000;

/** Faults of all plans; fills in their defaults. */
export function planFaults(plans: Readonly<Record<string, unknown>>): Fault[] {
  return Object.entries(plans).flatMap(([name, plan]) => {
    if (!PLAN_NAME.test(name)) {
      return [{ path: 'plans', reason: `${shown(name)} is not a plan's name; use up to 40 letters, digits, hyphens and underscores` }];
    }
    return onePlanFaults(plan, join('plans', name));
  });
}

function onePlanFaults(plan: unknown, path: string): Fault[] {
  const billing = (plan as { readonly billing?: unknown } | null)?.billing;
  if (typeof plan !== 'object' || plan === null || Array.isArray(plan)) {
    return [
      { path, reason: plan === null ? 'is empty; give it members or leave it out' : `${shown(plan)} is not a mapping of names to values` },
    ];
  }
  const schema = typeof billing === 'string' && Object.hasOwn(BILLINGS, billing) ? BILLINGS[billing] : undefined;
  if (schema === undefined) return [{ path: join(path, 'billing'), reason: billingFault(billing) }];
  const faults = faultsOf(schema, withDefaults(schema, plan), path);
  return faults.length === 0 && billing === 'quota'
    ? [...anchorFaults(plan as QuotaPlan, path), ...overageFaults(plan as QuotaPlan, path)]
    : faults;
}

function anchorFaults({ period, period_anchor: anchor }: QuotaPlan, path: string): Fault[] {
  if (anchor !== 'calendar' || isOfCalendar(period)) return [];
  const reason = `the calendar has no periods of ${period}; set period to one of ${CALENDAR_LENGTHS.join(', ')}, or leave period_anchor out`;
  return [{ path: join(path, 'period_anchor'), reason }];
}

function billingFault(billing: unknown): string {
  if (billing === undefined) return 'is missing; it must be quota or credit';
  const meant = typeof billing === 'string' ? nearest(billing, Object.keys(BILLINGS)) : undefined;
  return `${shown(billing)} is not one of quota, credit${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function overageFaults(plan: QuotaPlan, path: string): Fault[] {
  const { overage_cap_minor: cap, overage_minor_per_million: price } = plan;
  if (cap > 0 && price === 0) {
    const reason = `0 is no price for the overage that a cap of ${cap} allows; set a price, or overage_cap_minor to 0 for no overage`;
    return [{ path: join(path, 'overage_minor_per_million'), reason }];
  }
  if (plan.characters + overageCharacters(cap, price) <= PERIOD_CHARACTERS_MAX) return [];
  const reason = `${cap} pays for more characters than can be counted exactly; lower it or raise overage_minor_per_million`;
  return [{ path: join(path, 'overage_cap_minor'), reason }];
}

/** Faults between members. Members that are wrong by themselves (`known`) are left out of it. */
export function joinedFaults(config: ConfigFile, known: readonly Fault[]): Fault[] {
  const sound = (...paths: readonly string[]): boolean =>
    !known.some((fault) =>
      paths.some((path) => path === fault.path || path.startsWith(`${fault.path}.`) || fault.path.startsWith(`${path}.`)),
    );
  return [
    ...(sound('listen', 'ops') ? addressFaults(config) : []),
    ...(sound('engine.timeout_ms', 'limits.reservation_seconds', 'limits.request_seconds') ? timeFaults(config) : []),
    ...(sound('store', 'plugins') ? storeFaults(config) : []),
    ...(sound('auth.vendor_names', 'forward') ? forwardFaults(config.forward, config.auth.vendor_names) : []),
    ...(sound('admin') ? adminFaults(config) : []),
    ...(sound('auth.vendor_names') ? vendorFaults(config.auth.vendor_names) : []),
  ];
}

/** `pairs` is what stands at `engine.pairs`, of the right form. */
export function pairFaults(pairs: unknown, languages: LanguageTable): Fault[] {
  if (!Array.isArray(pairs)) return [];
  return (pairs as readonly string[]).flatMap((pair, index) => {
    const fault = faultOfPair(pair, languages);
    return fault === undefined ? [] : [{ path: `engine.pairs.${index}`, reason: `${shown(pair)}: ${fault}` }];
  });
}

/** A plugin's stores are known only when it is loaded; without plugins only ours are accepted. */
function storeFaults({ store, plugins }: ConfigFile): Fault[] {
  if (storeKindOf(store) !== undefined || plugins.length > 0) return [];
  return [{ path: 'store', reason: `${shown(store)} is not one of ${STORE_URL_FORMS}` }];
}

function addressFaults({ listen, ops }: ConfigFile): Fault[] {
  const address = parseNetworkAddress(listen)!;
  if (address.port === 0 || formatNetworkAddress(address) !== formatNetworkAddress(parseNetworkAddress(ops)!)) return [];
  return [{ path: 'ops', reason: `${shown(ops)} is the address of listen; the ops listener needs one of its own` }];
}

function timeFaults({ engine, limits }: ConfigFile): Fault[] {
  const neededSeconds = Math.ceil((ENGINE_ATTEMPTS * engine.timeout_ms) / SECOND_MS) + 1;
  const needed = `two attempts of engine.timeout_ms ${engine.timeout_ms} and one second need at least ${neededSeconds}`;
  const faults: Fault[] = [];
  for (const name of ['reservation_seconds', 'request_seconds'] as const) {
    const seconds = limits[name];
    if (seconds === undefined || seconds >= neededSeconds) continue;
    faults.push({ path: join('limits', name), reason: `${seconds} is too short; ${needed}` });
  }
  return faults;
}

function adminFaults({ admin }: ConfigFile): Fault[] {
  if (admin === undefined || admin.token !== undefined || admin.tokens.length > 0) return [];
  return [{ path: 'admin', reason: 'has no token; give it a token, or tokens, or leave it out' }];
}

/** Field names compare without regard to case. */
function vendorFaults(names: readonly string[]): Fault[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    if (seen.has(name.toLowerCase()))
      return [{ path: `auth.vendor_names.${index}`, reason: `${shown(name)} is listed twice; leave one out` }];
    seen.add(name.toLowerCase());
    return [];
  });
}
