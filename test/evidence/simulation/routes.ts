// The routes of a simulated gateway: the real chains, on a simulated store, engine and upstream.
import type { RouteSpec } from '../../../src/core/route.ts';
import type { BodyStep, Step } from '../../../src/core/step.ts';
import { spareCharacters } from '../../../src/domain/slots.ts';
import { clientAddressReader } from '../../../src/domain/client-address.ts';
import { credentialReader } from '../../../src/domain/api-key.ts';
import { languagesEndpoint } from '../../../src/endpoints/read-endpoints.ts';
import type { ForwardRoute } from '../../../src/domain/forward-route.ts';
import { chargedAdmission, forwardStep } from '../../../src/forward/forward-step.ts';
import type { AccessEntry } from '../../../src/ports/access-entry.ts';
import type { Engine } from '../../../src/ports/engine.ts';
import type { FullWindows } from '../../../src/ports/full-windows.ts';
import type { Settlements } from '../../../src/ports/ledger.ts';
import { LruKeyCache } from '../../../src/runtime/key-cache.ts';
import { accessLogStep } from '../../../src/steps/access-log.ts';
import { admitStep } from '../../../src/steps/admit.ts';
import { authenticateStep, identifyStep } from '../../../src/steps/caller.ts';
import { readStep } from '../../../src/steps/read.ts';
import { translateStep } from '../../../src/steps/translate.ts';
import { sparedOf } from './history.ts';
import { SCOPE_OF } from './key-limits.ts';
import { DOCUMENT_BYTES_MAX, DOCUMENT_CHARACTERS, LANGUAGES } from './requests.ts';
import { MAPPED_STATUS, simulatedUpstream } from './upstream.ts';
import type { StoreClient, World } from './world.ts';
import { offersOver } from '../../support/offers.ts';

const offers = { current: offersOver(LANGUAGES) };

const KEYS_MAX = 4;
const BODY_BYTES_MAX = 4096;

interface RouteParts {
  readonly world: World;
  readonly client: StoreClient;
  readonly engine: Engine;
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
    takesGlossary: () => true,
    onFailures: () => undefined,
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
    ...forwarded(world, known, admit),
  ];
  return { routes, around: [log] };
}

function forwarded(world: World, known: readonly Step[], admit: Step): RouteSpec[] {
  const { engineTimeoutMs, leaseMs } = world.scenario;
  const common = {
    origin: 'http://upstream',
    body_bytes: DOCUMENT_BYTES_MAX,
    timeout_ms: engineTimeoutMs,
    check_ids: true,
    request_fields: ['content-type'],
    response_fields: ['content-type'],
    statuses: new Map([[MAPPED_STATUS, 'validation_error' as const]]),
    headers: {},
  };
  const documents: ForwardRoute = { ...common, path: '/v1/documents', methods: ['POST'], charge_characters: DOCUMENT_CHARACTERS };
  const voices: ForwardRoute = { ...common, path: '/v1/voices', methods: ['GET'], charge_characters: 0 };
  const step = forwardStep({
    routes: new Map([
      ['POST /v1/documents', documents],
      ['GET /v1/voices', voices],
    ]),
    upstream: simulatedUpstream(world),
    leaseMs,
    now: () => performance.now(),
    onFailures: () => undefined,
  });
  return [documents, voices].map((route) => ({
    method: route.methods[0]!,
    path: route.path,
    takesBody: false,
    streamsBody: true,
    scope: route === voices ? SCOPE_OF.voices : SCOPE_OF.documents,
    steps: [...known, chargedAdmission(admit, route), step],
  }));
}
