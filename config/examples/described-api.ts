// A plugin whose routes have their own OpenAPI document.
import Type from 'typebox';
import { definePlugin, json } from 'lingate';
import type { PluginRoute, ProblemForm } from 'lingate';

const STATUSES: Readonly<Record<number, number>> = { 401: 403, 402: 403, 503: 500 };
const FORM: ProblemForm = {
  contentType: 'application/json',
  status: ({ kind: { status } }) => STATUSES[status] ?? status,
  body: ({ detail }) => JSON.stringify({ error: detail }),
};
const Thing = Type.Object({ name: Type.String({ description: 'What it is called.' }) }, { description: 'A thing.' });

const ROUTE: PluginRoute = {
  method: 'POST',
  path: '/described/{id}',
  takesBody: true,
  steps: ['access-log', 'shed', 'identify', 'authenticate', 'team-shed', 'admit', 'described-answer'],
  problemForm: FORM,
  doc: {
    summary: 'Describe a thing',
    description: 'Describes a thing.',
    authenticated: true,
    tag: 'Things',
    parameter: { description: "The thing's id.", example: 'a1' },
    query: [{ name: 'depth', description: 'How deep.', schema: Type.Integer({ minimum: 0 }), example: 2 }],
    body: {
      description: 'The thing.',
      schema: Thing,
      example: { name: 'a' },
      examples: { long: { summary: 'A long one', value: { name: 'aaa' } } },
      contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
    },
    answer: { status: 200, description: 'The thing.', schema: Thing, example: { name: 'a' } },
    problems: ['text_too_long', 'quota_exceeded', 'credit_exhausted', 'engine_unavailable'],
  },
};

export default definePlugin({
  name: 'described',
  options: Type.Object({}),
  setup: () => ({
    routes: [ROUTE],
    routeSteps: () => [{ kind: 'body', name: 'described-answer', run: () => json('{"name":"a"}') }],
    document: {
      title: 'Things',
      version: '2',
      summary: 'The names of things.',
      description: 'Things of all kinds.',
      tags: { Things: 'All things.' },
      failure: Type.Object({ error: Type.String({ description: 'What went wrong.' }) }, { description: 'A failure.' }),
      headers: { 'X-Described': { description: 'Whether the thing was described.', example: 'yes' } },
    },
  }),
});
