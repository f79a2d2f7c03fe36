// An operation of a vendor's API from one description: its routes, the step that reads it, the one
// that runs it, and its reference.
import { chargeSlot, FORM_BODY_HEADERS, refusedCharge } from 'lingate';
import type { Charge, Exchange, GatewayServices, Outcome, PluginHost, PluginRoute, Refusal, RouteDoc, Scope } from 'lingate';
import { offerTo } from './api.ts';
import type { ApiPart, CallerOffer } from './api.ts';
import type { DefaultVariants } from './codes.ts';
import { isRefusal } from './members.ts';
import type { Judged } from './members.ts';
import { objectSchema, queryDocs } from './parameters.ts';
import type { Described } from './parameters.ts';

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
  /** Also of a refused order, whose length counts if it is known. By default it costs nothing and has no length. */
  readonly charge?: (order: Order) => Charge;
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
    return refusal === undefined ? charge : refusedCharge(refusal, charge?.characters);
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
  const { parameters = [], body, query, answer, problems, tag, scope, takesBody, routes = [op as OperationRoute] } = op;
  // The other examples belong to those of the body.
  const { examples: _examples, ...alone } = answer;
  return routes.map(({ at, summary, description, parameter, moreParameters }) => {
    const [method = '', path = ''] = at.split(' ');
    const input =
      body !== undefined && method !== 'GET'
        ? { body: { schema: objectSchema(parameters), ...body }, answer, query }
        : { query: query ?? queryDocs(parameters), answer: alone };
    const doc = { summary, description, parameter, moreParameters, ...input, authenticated: true, tag, problems };
    return { method, path, takesBody: takesBody ?? 'body' in input, steps, scope, doc };
  });
}
