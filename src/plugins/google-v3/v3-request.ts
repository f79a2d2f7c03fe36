// Common to the routes of version 3 of Google's API: their paths, with and without a location, and parameters that several have.
import { refuse } from 'lingate';
import type { NamedTag, PluginRoute, Refusal, RouteDoc, Scope } from 'lingate';
import Type from 'typebox';
import { route } from '../facades/api.ts';

const PROJECT = { description: 'Any name.', example: 'any' };
const LOCATION = { description: 'Any name.', example: 'global' };

/** The route of an operation such as `:translateText`, below a project, and below a location of it. */
export function routesOf(method: string, operation: string, steps: readonly string[], doc: RouteDoc, scope: Scope): readonly PluginRoute[] {
  const below = { ...doc, summary: `${doc.summary}, with a location`, parameter: PROJECT, moreParameters: [LOCATION] };
  return [
    route(method, `/v3/projects/{project}${operation}`, steps, { ...doc, parameter: PROJECT }, scope),
    route(method, `/v3/projects/{project}/locations/{location}${operation}`, steps, below, scope),
  ];
}

export const MODEL_V3 = {
  name: 'model',
  does: 'refused',
  about: 'This service has no choice of models.',
  refusal: (named: string): Refusal => refuse('validation_error', `${named}: this service has no choice of models; leave it out.`),
} as const;

/** 1 to 100 printable ASCII characters without spaces, not counting those around them. */
const LABEL = /^\s*[!-~]{1,100}\s*$/;

export const LABELS = {
  name: 'labels',
  does: 'nothing',
  about:
    'An object with at most one label. Its value, 1 to 100 printable ASCII characters without spaces, is the tag of the request, by which its usage is reported.',
  schema: Type.Record(Type.String(), Type.String()),
  example: { customer: 'acme' },
  faultOf(value: unknown, named: string): Refusal | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return no(`${named}: must be an object.`);
    const labels: readonly unknown[] = Object.values(value);
    if (labels.length > 1) return no(`${named}: may have at most one label.`);
    const isSound = labels.every((label) => label === '' || (typeof label === 'string' && LABEL.test(label)));
    return isSound ? undefined : no(`${named}: a value must be 1 to 100 printable ASCII characters without spaces.`);
  },
} as const;

/** The value of the label, under which the request is counted; of labels that have been judged. */
export function tagOfLabels(labels: unknown): NamedTag | undefined {
  const [text] = Object.values((labels ?? {}) as Readonly<Record<string, string>>);
  return text === undefined ? undefined : { text, field: LABELS.name };
}

function no(detail: string): Refusal {
  return refuse('validation_error', detail);
}
