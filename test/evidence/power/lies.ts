// How a wrong store is made: a right one that lies in one of its operations.
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';

/** What of the store is replaced, given the right one. */
export type Lie = (right: PluginStore) => Partial<PluginStore>;

/** Wrong ports by their names, under how the names of the contract's cases begin of which one must fail. */
export type WrongByPart<Port> = Readonly<Record<string, Readonly<Record<string, Port>>>>;

export function wrongIn<Port>(parts: WrongByPart<Port>): readonly { readonly name: string; readonly part: string; readonly port: Port }[] {
  return Object.entries(parts).flatMap(([part, wrong]) => Object.entries(wrong).map(([name, port]) => ({ name, part, port })));
}

type PortName = Exclude<keyof PluginStore, 'ping' | 'close'>;
type Operation = (...asked: never[]) => unknown;
type OperationsOf<Port> = { [Name in keyof Port]: Port[Name] extends Operation ? Name : never }[keyof Port];
type Asked<Method> = Method extends (...asked: infer Given) => unknown ? Given : never;
/** A right store in memory is never away. */
type Answer<Method> = Method extends (...asked: never[]) => infer Given ? Exclude<Awaited<Given>, StoreUnavailable> : never;

/** The ways in which one operation can lie. */
interface Lies<Method> {
  /** It does this instead, which is given the right one. */
  does(
    instead: (
      right: (...asked: Asked<Method>) => Promise<Answer<Method>>,
      ...asked: Asked<Method>
    ) => Answer<Method> | Promise<Answer<Method>>,
  ): Lie;
  /** It is run, and its answer changed. */
  answers(change: (answer: Answer<Method>, ...asked: Asked<Method>) => Answer<Method>): Lie;
  /** Something else is asked than the caller did. */
  asks(change: (...asked: Asked<Method>) => Asked<Method>): Lie;
}

/** What one operation of a port may be made of. */
export function of<P extends PortName, M extends OperationsOf<PluginStore[P]>>(port: P, operation: M): Lies<PluginStore[P][M]> {
  type Method = PluginStore[P][M];
  const does: Lies<Method>['does'] = (instead) => (store) => {
    const whole = store[port];
    const rightly = (whole[operation] as Operation).bind(whole) as (...asked: unknown[]) => never;
    const wrongly = (...asked: Asked<Method>): unknown => instead(async (...given) => rightly(...given), ...asked);
    return { [port]: except(whole, operation, wrongly) };
  };
  return {
    does,
    answers: (change) => does(async (right, ...asked) => change(await right(...asked), ...asked)),
    asks: (change) => does((right, ...asked) => right(...change(...asked))),
  };
}

/** The store goes by other limits than a team was given. */
export function limits(change: (right: TeamLimits) => Partial<TeamLimits>): Lie {
  const changed = (right: TeamLimits): TeamLimits => ({ ...right, ...change(right) });
  return both(
    of('teams', 'createTeam').asks((team, by) => [{ ...team, limits: changed(team.limits) }, by]),
    of('teams', 'updateTeam').asks((teamId, asked, by) => {
      const plan = asked.plan === undefined ? {} : { plan: { ...asked.plan, limits: changed(asked.plan.limits) } };
      return [teamId, { ...asked, ...plan }, by];
    }),
  );
}

/** Each lie on top of the one before it. */
export function both(...lies: readonly Lie[]): Lie {
  return (right) => lies.reduce((store, lie) => ({ ...store, ...lie(store) }), right);
}

/** Opens right stores that lie. */
export function lying<Store extends PluginStore>(open: (clock: Clock) => Promise<Store>, lie: Lie) {
  return async (clock: Clock): Promise<Store> => {
    const right = await open(clock);
    return { ...right, ...lie(right) };
  };
}

/** The same object, but for one of its operations. */
function except<T extends object>(whole: T, operation: PropertyKey, instead: (...asked: never[]) => unknown): T {
  return new Proxy(whole, {
    get(target, name) {
      if (name === operation) return instead;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value as Operation).bind(target) : value;
    },
  });
}
