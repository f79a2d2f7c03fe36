// Rules between several members of a configuration, and the check of each plan by its billing.
import type { TSchema } from 'typebox';
import { uselessRules } from '../domain/engine-routing.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import type { LanguageTable } from '../domain/languages.ts';
import { overageCharacters } from '../domain/money.ts';
import { faultOfPair } from '../domain/engine-routing.ts';
import { CALENDAR_LENGTHS, isOfCalendar } from '../domain/period.ts';
import { CreditPlanSchema, QuotaPlanSchema } from '../domain/plan.ts';
import type { Plan, QuotaPlan } from '../domain/plan.ts';
import { STORE_URL_FORMS, storeKindOf } from '../domain/store-url.ts';
import { adminFaults } from './admin-schema.ts';
import { PLAIN_NAME, enginesOf } from './engine-schema.ts';
import type { Fault } from './config-error.ts';
import { faultsOf, join, shown } from './faults.ts';
import { forwardFaults } from './forward.ts';
import { nearest } from './nearest.ts';
import { formatNetworkAddress, parseNetworkAddress } from './network-address.ts';
import { Default, Type } from '../domain/typebox.ts';
import type { Override } from './environment.ts';
import type { ConfigFile } from './schema.ts';

/** Per request (interface, Limits). */
export const ENGINE_ATTEMPTS = 2;

const BILLINGS: Readonly<Record<Plan['billing'], TSchema>> = { quota: QuotaPlanSchema, credit: CreditPlanSchema };
/** Included and paid characters together; sums of a few such numbers are still exact. */
const PERIOD_CHARACTERS_MAX = 1_000_000_000_000_000;
const SECOND_MS = 1000;

/** The faults of all plans; fills in their defaults. */
export function planFaults(plans: Readonly<Record<string, unknown>>): Fault[] {
  return Object.entries(plans).flatMap(([name, plan]) => {
    const misnamed = faultsOfName(name, 'plans', 'a plan');
    return misnamed.length > 0 ? misnamed : onePlanFaults(plan, join('plans', name));
  });
}

/** What a plan is, before its billing decides which members it has. */
const Billed = Type.Object({ billing: Type.Enum(Object.keys(BILLINGS)) }, { is: 'a mapping of names to values' });

function onePlanFaults(plan: unknown, path: string): Fault[] {
  const unbilled = faultsOf(Billed, plan, path);
  if (unbilled.length > 0) return unbilled;
  const { billing } = plan as Plan;
  const schema = BILLINGS[billing];
  const faults = faultsOf(schema, Default(schema, plan), path);
  return faults.length === 0 && billing === 'quota'
    ? [...anchorFaults(plan as QuotaPlan, path), ...overageFaults(plan as QuotaPlan, path)]
    : faults;
}

function anchorFaults({ period, period_anchor: anchor }: QuotaPlan, path: string): Fault[] {
  if (anchor !== 'calendar' || isOfCalendar(period)) return [];
  const reason = `there are no calendar periods of ${period}; set period to one of ${CALENDAR_LENGTHS.join(', ')}, or leave period_anchor out`;
  return [{ path: join(path, 'period_anchor'), reason }];
}

function overageFaults(plan: QuotaPlan, path: string): Fault[] {
  const { overage_cap_minor: cap, overage_minor_per_million: price } = plan;
  if (cap > 0 && price === 0) {
    const reason = `must not be 0 with an overage_cap_minor of ${cap}; set a price, or set overage_cap_minor to 0 for no overage`;
    return [{ path: join(path, 'overage_minor_per_million'), reason }];
  }
  if (plan.characters + overageCharacters(cap, price) <= PERIOD_CHARACTERS_MAX) return [];
  const reason = `${cap} pays for more characters than can be counted exactly; lower it or raise overage_minor_per_million`;
  return [{ path: join(path, 'overage_cap_minor'), reason }];
}

/** Faults between members. Members that are wrong by themselves (`known`) are skipped. */
export function joinedFaults(config: ConfigFile, known: readonly Fault[]): Fault[] {
  const valid = (...paths: readonly string[]): boolean => paths.every((path) => isValid(path, known));
  return [
    ...(valid('listen', 'ops') ? addressFaults(config) : []),
    ...(valid('limits.reservation_seconds', 'limits.request_seconds') ? timeFaults(config, known) : []),
    ...(valid('store', 'plugins') ? storeFaults(config) : []),
    ...(valid('auth.vendor_names', 'forward') ? forwardFaults(config.forward, config.auth.vendor_names) : []),
    ...(valid('listener') ? listenerFaults(config) : []),
    ...(valid('admin') ? adminFaults(config) : []),
    ...(valid('auth.vendor_names') ? vendorFaults(config.auth.vendor_names) : []),
  ];
}

/** What is streamed needs node:http. */
function listenerFaults({ listener, forward, documents }: ConfigFile): Fault[] {
  if (listener !== 'uws') return [];
  const streaming = [...(forward.length === 0 ? [] : ['forward']), ...(documents === undefined ? [] : ['documents'])];
  return streaming.map((path) => ({
    path,
    reason: 'what it sends and receives is streamed, which uWebSockets.js cannot do; set "listener" to auto or node',
  }));
}

/** A plugin's stores are only known when it is loaded; without plugins only ours are accepted. */
function storeFaults({ store, plugins }: ConfigFile): Fault[] {
  if (storeKindOf(store) !== undefined || plugins.length > 0) return [];
  return [{ path: 'store', reason: `${shown(store)} is not one of ${STORE_URL_FORMS}` }];
}

function addressFaults({ listen, ops }: ConfigFile): Fault[] {
  const address = parseNetworkAddress(listen)!;
  if (address.port === 0 || formatNetworkAddress(address) !== formatNetworkAddress(parseNetworkAddress(ops)!)) return [];
  return [{ path: 'ops', reason: `${shown(ops)} is also the address of listen; the ops listener needs its own` }];
}

function timeFaults(config: ConfigFile, known: readonly Fault[]): Fault[] {
  const timeouts = enginesOf(config)
    .map(({ place, engine }) => ({ place, timeoutMs: (engine as Partial<typeof engine> | null)?.timeout_ms }))
    .filter(({ place, timeoutMs }) => typeof timeoutMs === 'number' && !known.some(({ path }) => path === join(place, 'timeout_ms')));
  const [longest] = timeouts.toSorted((a, b) => b.timeoutMs! - a.timeoutMs!);
  if (longest === undefined) return [];
  const { place, timeoutMs } = longest;
  const neededSeconds = Math.ceil((ENGINE_ATTEMPTS * timeoutMs!) / SECOND_MS) + 1;
  const needed = `two attempts of ${place}.timeout_ms ${timeoutMs} plus one second need at least ${neededSeconds}`;
  const faults: Fault[] = [];
  for (const name of ['reservation_seconds', 'request_seconds'] as const) {
    const seconds = config.limits[name];
    if (seconds === undefined || seconds >= neededSeconds) continue;
    faults.push({ path: join('limits', name), reason: `${seconds} is too short; ${needed}` });
  }
  return faults;
}

/** Header names are case-insensitive. */
function vendorFaults(names: readonly string[]): Fault[] {
  return listedTwice(names, (index) => `auth.vendor_names.${index}`);
}

/** Names that an earlier one equals, case-insensitively. */
export function listedTwice(names: readonly string[], pathOf: (index: number) => string): Fault[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    const isNew = seen.size < seen.add(name.toLowerCase()).size;
    return isNew ? [] : [{ path: pathOf(index), reason: `${shown(name)} is listed twice; leave one out` }];
  });
}

type FileMembers = Readonly<Record<string, unknown>>;

/** If `engine`, or a flag for it, and `engines` are given. `file` has no defaults yet. */
export function twofoldFaults(file: unknown, overrides: readonly Override[]): Fault[] {
  if (typeof file !== 'object' || file === null || (file as FileMembers)['engines'] === undefined) return [];
  const written =
    (file as FileMembers)['engine'] === undefined
      ? []
      : [{ path: 'engine', reason: 'cannot be used together with engines; leave one of the two out' }];
  const flags = overrides
    .filter(({ path }) => path[0] === 'engine')
    .map(({ path: [, member = ''] }) => ({
      path: join('engine', member),
      reason: `cannot be used with engines; set ${member} in the file`,
    }));
  // If `engine` is there too, the flag was intended for it.
  return written.length > 0 ? written : flags;
}

/** In the names of engines, and in the rules of `routing` apart from languages. */
export function engineFaults(config: ConfigFile, known: readonly Fault[]): Fault[] {
  const names = isValid('engines', known) || typeof config.engines === 'object' ? Object.keys(config.engines ?? {}) : [];
  return [...names.flatMap((name) => faultsOfName(name, 'engines', 'an engine')), ...nameFaults(config, known)];
}

function faultsOfName(name: string, path: string, what: string): Fault[] {
  if (PLAIN_NAME.test(name)) return [];
  return [{ path, reason: `${shown(name)} is not a valid name of ${what}; use up to 40 letters, digits, hyphens and underscores` }];
}

function nameFaults(config: ConfigFile, known: readonly Fault[]): Fault[] {
  if (!Array.isArray(config.routing)) return [];
  const engines = enginesOf(config).map(({ name }) => name);
  const plans = Object.keys(config.plans ?? {});
  return (config.routing as readonly RoutingRule[]).flatMap((rule, index) => {
    const at = `routing.${index}`;
    if (!isValid(at, known)) return [];
    return [
      ...rule.engines.flatMap((name, i) => unknownName(name, engines, `${at}.engines.${i}`, 'engine')),
      ...(rule.plans ?? []).flatMap((name, i) => unknownName(name, plans, `${at}.plans.${i}`, 'plan')),
    ];
  });
}

function unknownName(name: string, known: readonly string[], path: string, kind: 'engine' | 'plan'): Fault[] {
  if (known.includes(name)) return [];
  const nearby = nearest(name, known);
  const right = nearby === undefined ? '' : `did you mean ${nearby}? `;
  return [{ path, reason: `there is no ${kind} ${shown(name)}; ${right}the ${kind}s are ${known.join(', ') || 'none'}` }];
}

/** The faults in pairs, of engines and of rules, and rules that can never match. */
export function languageFaults(config: ConfigFile, languages: LanguageTable, known: readonly Fault[]): Fault[] {
  const pairs = enginesOf(config).flatMap(({ place, engine }) => {
    const at = join(place, 'pairs');
    return isValid(at, known) ? pairFaults(engine.pairs, at, languages, false) : [];
  });
  if (!Array.isArray(config.routing)) return pairs;
  const rules = config.routing as readonly RoutingRule[];
  const routed = rules.flatMap((rule, index) => {
    const at = `routing.${index}.pairs`;
    return isValid(at, known) ? pairFaults(rule.pairs, at, languages, true) : [];
  });
  // If the list has another fault, the rest of it says nothing.
  if (routed.length > 0 || !isValid('routing', known)) return [...pairs, ...routed];
  const useless = [...uselessRules(rules, languages)].map(([index, before]) => {
    const taker = before === undefined ? 'the rules before it match' : `routing.${before} matches`;
    return { path: `routing.${index}`, reason: `can never match: ${taker} everything that it would; move it up or leave it out` };
  });
  return [...pairs, ...useless];
}

function pairFaults(pairs: unknown, at: string, languages: LanguageTable, any: boolean): Fault[] {
  if (!Array.isArray(pairs)) return [];
  return (pairs as readonly string[]).flatMap((pair, index) => {
    const fault = faultOfPair(pair, languages, any);
    return fault === undefined ? [] : [{ path: `${at}.${index}`, reason: `${shown(pair)}: ${fault}` }];
  });
}

/** Whether no fault is known of the value, of a part of it, or of what contains it. */
function isValid(at: string, known: readonly Fault[]): boolean {
  return !known.some(({ path }) => path === at || path.startsWith(`${at}.`) || at.startsWith(`${path}.`));
}
