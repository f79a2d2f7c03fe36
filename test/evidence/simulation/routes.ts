// The routes of a simulated gateway: the real chains, on a simulated store and engine.
import type { RouteSpec } from '../../../src/core/route.ts';
import type { BodyStep } from '../../../src/core/step.ts';
import { traceparentForward } from '../../../src/domain/request-trace.ts';
import { spareCharacters } from '../../../src/domain/slots.ts';
import { clientAddressReader } from '../../../src/domain/client-address.ts';
import { credentialReader } from '../../../src/domain/api-key.ts';
import { languagesEndpoint } from '../../../src/endpoints/read-endpoints.ts';
import type { AccessEntry } from '../../../src/ports/access-entry.ts';
import type { FullWindows } from '../../../src/ports/key-directory.ts';
import type { Settlements } from '../../../src/ports/ledger.ts';
import { LruKeyCache } from '../../../src/runtime/key-cache.ts';
import { accessLogStep } from '../../../src/steps/access-log.ts';
import { admitStep } from '../../../src/steps/admit.ts';
import { authenticateStep, identifyStep } from '../../../src/steps/caller.ts';
import { readStep, translateStep } from '../../../src/steps/translate.ts';
import type { TranslateOptions } from '../../../src/steps/translate.ts';
import { sparedOf } from './history.ts';
import { SCOPE_OF } from './key-limits.ts';
import { LANGUAGES } from './requests.ts';
import type { StoreClient, World } from './world.ts';
import { offersOver } from '../../support/offers.ts';

const offers = { current: offersOver(LANGUAGES) };

const KEYS_MAX = 4;
const BODY_BYTES_MAX = 4096;

interface RouteParts {
  readonly world: World;
  readonly client: StoreClient;
  readonly engine: TranslateOptions['engine'];
  readonly settlements: Settlements;
  readonly full: FullWindows;
  readonly log: (entry: AccessEntry) => void;
}

export function simulatedRoutes({ world, client, engine, settlements, full, log: record }: RouteParts) {
  const { scenario } = world;
  const now = () => performance.now();
  const cache = new LruKeyCache({ directory: client.keys, keysMax: KEYS_MAX, now, onLookup: () => undefined });
  const log = accessLogStep({ logs: [], written: { record }, quietPaths: new Set(), now });
  const addresses = clientAddressReader([], 'x-forwarded-for');
  const known = [
    log,
    identifyStep(credentialReader(['Vendor-Auth-Key']), cache),
    authenticateStep({ cache, ledger: client.ledger, full, rateLimitHeaders: false, now, client: addresses, onRefused: () => undefined }),
  ];
  const admit = admitStep({
    ledger: client.ledger,
    settlements,
    full,
    cache,
    client: addresses,
    leaseMs: scenario.leaseMs,
    tagsMax: scenario.tags?.distinctMax ?? 1000,
    rateLimitHeaders: scenario.requests % 2 === 0,
    now,
    offers,
    onAdmission: () => undefined,
    onUnavailable: () => undefined,
  });
  const translate = translateStep({
    engine,
    glossaries: { dictionary: () => undefined, merged: async () => undefined },
    offers,
    now,
    stages: [],
    onFailures: () => undefined,
    passTraceparent: traceparentForward,
  });
  const spare: BodyStep = {
    kind: 'body',
    name: 'spare',
    run(x) {
      spareCharacters(x, sparedOf(world.history.need(x.id).intent));
      return undefined;
    },
  };
  const languages = languagesEndpoint(() => LANGUAGES);
  const read = readStep(offers, BODY_BYTES_MAX);
  const routes: RouteSpec[] = [
    { method: 'POST', path: '/v1/translate', scope: SCOPE_OF.translate, takesBody: true, steps: [...known, read, admit, spare, translate] },
    { method: 'GET', path: '/v1/languages', scope: SCOPE_OF.languages, takesBody: false, steps: [...known, admit, languages] },
  ];
  return { routes, around: [log] };
}
