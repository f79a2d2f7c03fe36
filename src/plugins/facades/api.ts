// The building blocks of other vendors' APIs: parts with routes and steps, and common steps.
import { IF_NONE_MATCH, json, unlessKnown, validated } from 'lingate';
import type {
  ApiDocument,
  Charge,
  DocHeaders,
  Exchange,
  GatewayServices,
  GlossaryReference,
  HeadStep,
  Languages,
  Lenience,
  EngineCapabilities,
  PluginParts,
  PluginRoute,
  ProblemForm,
  Refusal,
  Reply,
  RouteDoc,
  Step,
  Want,
  ValidatedReply,
} from 'lingate';
import type { DefaultVariants } from './codes.ts';
import { cachedAnswers } from './language-names.ts';
import { isRefusal } from './members.ts';
import type { Judged } from './members.ts';

export interface ApiPart {
  readonly routes: readonly PluginRoute[];
  /** Called once, when store and engine are open. */
  readonly steps: (services: GatewayServices) => readonly Step[];
}

/** Combines parts into a plugin. `lenient`: how far paths may differ from the written ones. */
export function apiOf(parts: readonly ApiPart[], document: ApiDocument, problemForm: ProblemForm, lenient: Lenience = 'slashes') {
  return {
    routes: parts.flatMap(({ routes }) => routes.map((one): PluginRoute => ({ ...one, problemForm, lenient }))),
    document,
    routeSteps: (services: GatewayServices) => parts.flatMap(({ steps }) => steps(services)),
  } satisfies PluginParts;
}

/**
 * What this service does not have of the vendor's API: `POST /rephrase`, or `* /v2/*`, is refused
 * after these steps, perhaps with an admission, which reports a wrong key.
 */
export function absent(name: string, refusal: Refusal, before: readonly string[], at: readonly string[]): ApiPart {
  const kind = before.includes('admit') ? 'body' : 'head';
  return {
    routes: at.map((one): PluginRoute => {
      const [method = '', path = ''] = one.split(' ');
      return { method, path, takesBody: false, steps: [...before, name], undocumented: true };
    }),
    steps: () => [{ kind, name, run: () => refusal }],
  };
}

/** Adds the request id to every answer under the name that the API's support uses. */
export function idStep(name: string, field: string): HeadStep {
  return {
    kind: 'head',
    name,
    run(x) {
      x.responseHeaders = [...x.responseHeaders, [field, x.id]];
      return undefined;
    },
  };
}

/** What the engines for a request can do, for an offered pair and besides what else it wants. */
type CanFor = (sourceLang: string | undefined, targetLang: string, wants?: readonly Want[]) => EngineCapabilities;

/** What is offered to a caller: the rules by which the parameters of a translation are read. */
export interface CallerOffer {
  readonly languages: Languages;
  readonly variants: DefaultVariants;
  readonly canFor: CanFor;
}

export function offerTo(x: Exchange, services: GatewayServices, variants: DefaultVariants): CallerOffer {
  const canFor: CanFor = (sourceLang, targetLang, wants) => services.engineCanFor(x, sourceLang, targetLang, wants);
  return { languages: services.languages(x), variants, canFor };
}

/** For charged texts. If all are empty, nothing is reserved, and no glossary looked for. */
export function chargeFor(characters: number, glossary?: GlossaryReference): Charge {
  return { characters, reserve: characters > 0, glossary: characters > 0 ? glossary : undefined, refusal: undefined };
}

/** For texts that cost nothing, of which only the length is checked. */
export function uncharged(characters: number): Charge {
  return { characters, reserve: false, glossary: undefined, refusal: undefined };
}

const REVALIDATED: DocHeaders = {
  ETag: { description: 'Send it as `If-None-Match` to get a 304 while nothing has changed.', example: '"kD0LcF3HbYq5tVxV3s7w1A"' },
  'Cache-Control': { description: 'Ask again before each use.', example: 'no-cache' },
};

/** A route that needs no key: each answer is made once for a list, and a caller who has it gets a 304. */
interface KeylessOperation<Asked> {
  readonly path: string;
  /** The steps before its last one, which is the last name. */
  readonly steps: readonly string[];
  readonly doc: Omit<RouteDoc, 'authenticated'>;
  /** The fields of the head that `read` needs. */
  readonly headers?: readonly string[];
  /** What the answer depends on, besides the list; few of them are kept, and no more than `answersMax`. */
  readonly read?: (x: Exchange) => Judged<Asked>;
  readonly answersMax?: number;
  readonly make: (languages: Languages, services: GatewayServices, asked: Asked) => Reply;
}

export function keyless<Asked = undefined>(op: KeylessOperation<Asked>): ApiPart {
  const { path, steps, doc, headers = [], read, answersMax, make } = op;
  const described = { ...doc, authenticated: false, answer: { ...doc.answer, headers: { ...doc.answer.headers, ...REVALIDATED } } };
  const answerFor = cachedAnswers<ValidatedReply>(answersMax);
  return {
    routes: [{ method: 'GET', path, takesBody: false, steps, doc: described, revalidated: true }],
    steps(services) {
      const run: HeadStep['run'] = (x) => {
        const asked = read?.(x) as Judged<Asked>;
        if (isRefusal(asked)) return asked;
        const languages = services.languages();
        const found = answerFor(languages, () => validated(make(languages, services, asked)), JSON.stringify(asked));
        return unlessKnown(found, x.head.headers[IF_NONE_MATCH]);
      };
      return [{ kind: 'head', name: steps.at(-1)!, headers: [IF_NONE_MATCH, ...headers], run }];
    },
  };
}

export function answer(body: unknown, status = 200): Reply {
  return json(JSON.stringify(body), status);
}
