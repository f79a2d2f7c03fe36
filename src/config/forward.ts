// Forward routes in a configuration: the rules between their members, and their settings.
import type { ForwardRoute } from '../domain/forward-route.ts';
import { join, shown } from './faults.ts';
import type { Fault } from './faults.ts';
import { isAddedField, statusFault } from './forward-schema.ts';
import type { ForwardEntry } from './forward-schema.ts';

/** A route before its secrets are read: `headers` as in the file, secrets as written. */
export interface ForwardConfig extends Omit<ForwardRoute, 'headers'> {
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Faults between members of entries that are valid by themselves. Vendor names are ways to send a key. */
export function forwardFaults(entries: readonly ForwardEntry[], vendorNames: readonly string[]): Fault[] {
  const taken = new Set<string>();
  return entries.flatMap((entry, index) => {
    const at = `forward.${index}`;
    const faults: Fault[] = [];
    for (const method of entry.methods) {
      const name = `${method} ${entry.path}`;
      if (taken.has(name)) faults.push({ path: join(at, 'path'), reason: `${shown(name)} is listed twice; leave one out` });
      taken.add(name);
    }
    for (const status of Object.keys(entry.statuses)) {
      const fault = statusFault(status);
      if (fault !== undefined) faults.push({ path: join(at, 'statuses'), reason: `${shown(status)} is not ${fault}` });
    }
    for (const name of Object.keys(entry.headers)) {
      if (!isAddedField(name.toLowerCase()))
        faults.push({ path: join(at, 'headers'), reason: `${shown(name)} is not a header that can be added` });
    }
    const keys = new Set(vendorNames.map((name) => name.toLowerCase()));
    const leak = entry.request_fields.find((name) => keys.has(name));
    if (leak !== undefined) {
      faults.push({
        path: join(at, 'request_fields'),
        reason: `${shown(leak)} is one of auth.vendor_names: callers' keys are not passed on`,
      });
    }
    return faults;
  });
}

export function toForward(entry: ForwardEntry, bodyBytes: number, timeoutMs: number): ForwardConfig {
  return {
    path: entry.path,
    methods: entry.methods,
    origin: new URL(entry.target).origin,
    chargeCharacters: entry.charge_characters,
    bodyBytesMax: entry.body_bytes ?? bodyBytes,
    timeoutMs: entry.timeout_ms ?? timeoutMs,
    checkIds: entry.check_ids,
    requestFields: entry.request_fields,
    responseFields: entry.response_fields,
    statuses: new Map(Object.entries(entry.statuses).map(([status, code]) => [Number(status), code])),
    headers: Object.fromEntries(Object.entries(entry.headers).map(([name, value]) => [name.toLowerCase(), value])),
  };
}
