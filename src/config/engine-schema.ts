// The schema of engines: one in `engine`, or several in `engines` and the rules of `routing`.
import type { Static } from 'typebox';
import { WINDOWS } from '../domain/window-limits.ts';
import { CHARACTERS_MAX } from '../domain/key-limits.ts';
import { ONLY_ENGINE } from '../domain/engine-routing.ts';
import { Type } from '../domain/typebox.ts';
import type { ConfigFile } from './schema.ts';
import { closed, matching, whole } from '../domain/option-schema.ts';
import { list, reloaded, section } from './schema-parts.ts';

export const HTTP_URL = 'an absolute http or https URL without credentials, query and fragment, for example http://10.0.0.5:2737';
export const isHttpUrl = (value: string): boolean =>
  /^https?:\/\/[^\s"'<>\\^`{|}?#@]+$/i.test(value) && URL.canParse(value) && /^[!-~]+$/.test(value);

/** Valid names of engines, protocols and plans. */
export const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;
const ENGINE_TIMEOUT_MS_MAX = 300_000;

const PAIRS = 'any, ask, or a list of pairs, for example [EN-ES, ES-EN]';
const PAIRS_MAX = 10_000;

/** Whether the languages exist is checked with the list of languages. */
function isPairs(value: unknown): boolean {
  if (value === 'any' || value === 'ask') return true;
  return Array.isArray(value) && value.length > 0 && value.length <= PAIRS_MAX && value.every((entry) => typeof entry === 'string');
}

/** The settings of an engine, besides its URLs. */
const engineMembers = {
  protocol: matching('the name of a protocol, for example native', PLAIN_NAME, { default: 'native' }),
  options: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
  timeout_ms: whole(1, ENGINE_TIMEOUT_MS_MAX, 10_000),
  connections_max: whole(1, 10_000, 64),
  queue_max: whole(0, 1_000_000, 1024),
  response_bytes_max: whole(1024, 1_073_741_824, 2_097_152),
  response_bytes_factor: whole(1, 10_000, 32),
  keep_alive: Type.Boolean({ default: true }),
  check_ids: Type.Boolean({ default: true }),
  // By default, what the protocol's engines support.
  pairs: Type.Optional(Type.Refine(Type.Unknown({ is: PAIRS, ...reloaded }), isPairs, () => PAIRS)),
  characters: Type.Optional(Type.Object({ per: Type.Enum([...WINDOWS]), most: whole(1, CHARACTERS_MAX) }, closed)),
  // 50 texts are one request's most; a longer wait would not fit into the lease.
  batch: Type.Optional(
    Type.Object({ texts_max: whole(2, 50, 50), characters_max: whole(1, 100_000, 10_000), wait_ms: whole(0, 50, 0) }, closed),
  ),
};

function engineUrls(fallback?: readonly string[]) {
  return list(HTTP_URL, isHttpUrl, 64, fallback, 1, reloaded);
}

function names(is: string, maxItems = 100) {
  return list(is, (value) => value !== '', maxItems, undefined, 1);
}

const OneEngine = Type.Object({ ...engineMembers, urls: engineUrls(['http://127.0.0.1:7001']) }, section);

/** Members of the file. */
export const EngineSections = {
  engine: OneEngine,
  // Instead of `engine`. Valid names are checked with the rules between members.
  engines: Type.Optional(
    Type.Record(Type.String(), Type.Object({ ...engineMembers, urls: engineUrls() }, section), { minProperties: 1, maxProperties: 32 }),
  ),
  routing: Type.Optional(
    Type.Array(
      Type.Object(
        {
          plans: Type.Optional(names('the name of a plan')),
          pairs: Type.Optional(names('a pair, for example EN-DE, *-EN-GB or DE-*', PAIRS_MAX)),
          engines: names('the name of an engine'),
        },
        closed,
      ),
      { minItems: 1, maxItems: 200 },
    ),
  ),
};

/** The settings of one engine as written. */
export type WrittenEngine = Static<typeof OneEngine>;

/** The engines of a file with their paths in it. `engine` is one named `default`. */
export function enginesOf({ engine, engines }: Pick<ConfigFile, 'engine' | 'engines'>): readonly {
  readonly name: string;
  readonly place: string;
  readonly engine: WrittenEngine;
}[] {
  if (engines === undefined) return [{ name: ONLY_ENGINE, place: 'engine', engine }];
  return Object.entries(engines).map(([name, one]) => ({ name, place: `engines.${name}`, engine: one }));
}
