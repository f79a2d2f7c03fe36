// Steps that the glossary routes of both versions are made of: the body's judgement, and endpoints for a team or one glossary.
import { keyOwnerSlot } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, Outcome, PluginRoute, RouteDoc, Slot } from 'lingate';
import type { Members } from '../facades/members.ts';
import { INVALID_ID } from './glossary-answer.ts';
import { ulidOf } from './glossary-id.ts';
import type { Judged } from '../facades/judged.ts';
import { AUTHENTICATED } from './authenticated-steps.ts';
import { PROBLEM_FORM } from './deepl-problem-form.ts';
import { readBody } from './read-body.ts';

/** What a route has of its own: a step that reads the body, if it takes one, and its endpoint. */
type OwnSteps = readonly [endpoint: string] | readonly [read: string, endpoint: string];

export function glossaryRoute(method: string, path: string, own: OwnSteps, doc: RouteDoc): PluginRoute {
  const [first, second] = own;
  const around = second === undefined ? ['admit', first] : [first, 'admit', second];
  return { method, path, takesBody: second !== undefined, steps: [...AUTHENTICATED, ...around], problemForm: PROBLEM_FORM, doc };
}

/** Leaves what `judge` makes of the body in the slot. */
export function readDraft<T>(name: string, services: GatewayServices, slot: Slot<T>, judge: (members: Members) => Judged<T>): BodyStep {
  return readBody(name, services, (x, members) => {
    const judged = judge(members);
    if ('sound' in judged) x.set(slot, judged.sound);
    return 'sound' in judged ? undefined : judged;
  });
}

export function teamEndpoint(name: string, run: (x: Exchange, teamId: string) => Outcome | Promise<Outcome>): BodyStep {
  return { kind: 'body', name, run: (x) => run(x, x.need(keyOwnerSlot).teamId) };
}

/** Of the glossary that the path names. */
export function glossaryEndpoint(
  name: string,
  run: (teamId: string, glossaryId: string, x: Exchange) => Outcome | Promise<Outcome>,
): BodyStep {
  return teamEndpoint(name, (x, teamId) => {
    const glossaryId = ulidOf(x.pathParameter);
    return glossaryId === undefined ? INVALID_ID : run(teamId, glossaryId, x);
  });
}
