// The parts of a vendor's API: an operation from one description, which has its routes, the step that
// reads a request, the one that runs it, and its reference; lists that need no key; and what is absent.
import { chargeSlot, FORM_BODY_HEADERS, IF_NONE_MATCH, json, refusedCharge, unlessKnown, validated } from 'lingate';
import type { ApiDocument, Charge, DocHeaders, EngineCapabilities, Exchange, GatewayServices, HeadStep, Languages } from 'lingate';
import type { Lenience, Outcome, PluginHost, PluginParts, PluginRoute, ProblemForm, Refusal, Reply, RouteDoc, Scope } from 'lingate';
import type { Step, ValidatedReply, Want } from 'lingate';
import type { DefaultVariants } from './codes.ts';
import { cachedAnswers } from './language-names.ts';
import { isRefusal, objectSchema, queryDocs } from './parameters.ts';
import type { Described, Judged } from './parameters.ts';

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

export function answer(body: unknown, status = 200): Reply {
  return json(JSON.stringify(body), status);
}

/** What the operations of an API share. */
export interface FacadeApi {
  /** The names of its steps begin with it. */
  readonly name: string;
  /** The steps of a route up to the team's load shedding. */
  readonly before: readonly string[];
  readonly variants: DefaultVariants;
}

/** A route of an operation, with what the reference says of it alone. */
export interface OperationRoute extends Pick<RouteDoc, 'summary' | 'description' | 'parameter' | 'moreParameters'> {
  /** Method and path: `POST /translate`. */
  readonly at: string;
}

/** What the reference says of an operation. */
export interface OperationDoc extends Partial<OperationRoute> {
  /** Instead of `at`, if it has several routes. */
  readonly routes?: readonly OperationRoute[];
  /** By default if the reference has a body. */
  readonly takesBody?: boolean;
  /** As the members of the body, or for a GET as those of the query; none by default. */
  readonly parameters?: Described;
  readonly body?: Omit<NonNullable<RouteDoc['body']>, 'schema'> & Partial<Pick<NonNullable<RouteDoc['body']>, 'schema'>>;
  /** Of a route that takes a body besides the parameters, otherwise in their place. */
  readonly query?: RouteDoc['query'];
  readonly answer: RouteDoc['answer'];
  readonly problems?: readonly string[];
}

interface NamedOperation extends OperationDoc {
  readonly name: string;
  readonly tag: string;
  readonly scope: Scope;
}

/** `Read` is the parsed request, `Order` what is left to do after the admission. */
interface FacadeOperation<Read, Order> extends NamedOperation {
  /** The fields of the head that `read` needs. */
  readonly headers?: readonly string[];
  /** Parses the request, once. */
  readonly read: (x: Exchange, services: GatewayServices) => Judged<Read>;
  /** What a request asks for that says nothing. */
  readonly nothing: Order;
  /** Completes the order, up to a refusal. Again after the admission if the offer depends on the plan. */
  readonly judge: (order: Order, read: Read, offer: CallerOffer, x: Exchange, services: GatewayServices) => Refusal | undefined;
  /** Also of a refused order. By default it costs nothing and has no length. */
  readonly charge?: (order: Order) => Charge;
  /** Whether texts that are too long are reported before what else is wrong, if their length is known. */
  readonly isLengthFirst?: true;
  readonly run: (order: Order, x: Exchange, services: GatewayServices) => Outcome | Promise<Outcome>;
}

export function operation<Read, Order extends object>(api: FacadeApi, host: PluginHost, op: FacadeOperation<Read, Order>): ApiPart {
  const slot = host.reserveSlot<Order>(op.name);
  const [reads, runs] = [`${api.name}-read-${op.name}`, `${api.name}-${op.name}`];
  const take = (x: Exchange, read: Read, services: GatewayServices): Charge | undefined => {
    const order = { ...op.nothing };
    const refusal = op.judge(order, read, offerTo(x, services, api.variants), x, services);
    x.set(slot, order);
    const charge = op.charge?.(order);
    return refusal === undefined ? charge : refusedCharge(refusal, op.isLengthFirst && charge?.characters);
  };
  return {
    routes: routesOf(op, [...api.before, reads, 'admit', runs]),
    steps: (services) => [
      {
        kind: 'body',
        name: reads,
        headers: op.headers ?? FORM_BODY_HEADERS,
        run(x) {
          const read = op.read(x, services);
          // The bytes are no longer needed; a slow engine must not keep them in memory.
          x.body = 'none';
          const charge = isRefusal(read) ? refusedCharge(read) : take(x, read, services);
          // Answered after the admission, so that a revoked key and the rate limit come first.
          if (charge !== undefined) x.set(chargeSlot, charge);
          if (!isRefusal(read)) services.judgeAgain(x, (): Refusal | undefined => take(x, read, services)?.refusal);
          return undefined;
        },
      },
      { kind: 'body', name: runs, headers: ['traceparent'], run: (x) => op.run(x.need(slot), x, services) },
    ],
  };
}

/** An operation that has nothing to read before the admission. */
export function plainOperation(
  api: FacadeApi,
  op: NamedOperation & { readonly run: (x: Exchange, services: GatewayServices) => Outcome | Promise<Outcome> },
): ApiPart {
  const name = `${api.name}-${op.name}`;
  return {
    routes: routesOf(op, [...api.before, 'admit', name]),
    steps: (services) => [{ kind: 'body', name, run: (x) => op.run(x, services) }],
  };
}

function routesOf(op: NamedOperation, steps: readonly string[]): readonly PluginRoute[] {
  const { parameters = [], body, query, problems, tag, scope, takesBody, routes = [op as OperationRoute] } = op;
  // The other examples belong to those of the body.
  const { examples: _examples, ...alone } = op.answer;
  return routes.map(({ at, summary, description, parameter, moreParameters }) => {
    const [method = '', path = ''] = at.split(' ');
    const input =
      body !== undefined && method !== 'GET'
        ? { body: { schema: objectSchema(parameters), ...body }, answer: op.answer, query }
        : { query: query ?? queryDocs(parameters), answer: alone };
    const doc = { summary, description, parameter, moreParameters, ...input, authenticated: true, tag, problems };
    return { method, path, takesBody: takesBody ?? 'body' in input, steps, scope, doc };
  });
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
  /** What the answer depends on, besides the list; at most `answersMax` answers are cached. */
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
