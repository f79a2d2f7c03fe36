// A plugin with its own API beside /v1: forms or JSON, the key in the body or a header, its own statuses and error messages.
import Type from 'typebox';
import {
  canonicalUlid,
  chargeSlot,
  countCharacters,
  definePlugin,
  FORM_BODY_HEADERS,
  isFormType,
  isUnavailable,
  json,
  keyOwnerSlot,
  NOTHING_CHOSEN,
  readFormBody,
  readJsonBody,
  refuse,
  refusedCharge,
  STORE_UNAVAILABLE,
  usageReport,
} from 'lingate';
import type {
  Body,
  BodyStep,
  Exchange,
  GatewayServices,
  Languages,
  PluginRoute,
  ProblemForm,
  Refusal,
  Slot,
  Step,
  TranslationOrder,
} from 'lingate';

/** Problems with the caller's account are 403 in this API, and problems with the engine 500. */
const STATUSES: Readonly<Record<number, number>> = { 401: 403, 402: 403, 503: 500 };

const FORM: ProblemForm = {
  contentType: 'application/json',
  status: ({ code, kind: { status } }) => (code === 'glossary_not_found' ? 404 : (STATUSES[status] ?? status)),
  body: ({ detail }, { request_id }) => JSON.stringify({ error: detail, request_id }),
};

type Members = Readonly<Record<string, unknown>>;

const KEYED = ['access-log', 'shed', 'identify', 'authenticate', 'team-shed', 'admit'];
const TranslateBody = Type.Object({ q: Type.String(), target: Type.String(), api_key: Type.Optional(Type.String()) });

export const ROUTES: readonly PluginRoute[] = [
  {
    method: 'POST',
    path: '/small/translate',
    takesBody: true,
    // The key may be in the body, so the body is read before the caller is known.
    steps: ['access-log', 'shed', 'small-read', 'authenticate', 'team-shed', 'admit', 'small-translate'],
    problemForm: FORM,
    doc: {
      summary: 'Translate a text',
      description: 'Translates `q` into `target`.',
      authenticated: true,
      body: {
        description: 'The text.',
        schema: TranslateBody,
        example: { q: 'Hello', target: 'de' },
        contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
      },
      answer: {
        status: 200,
        description: 'The translation.',
        schema: Type.Object({ translatedText: Type.String() }),
        example: { translatedText: 'Hallo' },
      },
      failures: { 403: 'The key is wrong, or the quota is used up.', 500: 'The engine returned no usable translation.' },
    },
  },
  { method: 'GET', path: '/small/usage', takesBody: false, steps: [...KEYED, 'small-usage'], problemForm: FORM },
  { method: 'GET', path: '/small/glossaries/{id}', takesBody: false, steps: [...KEYED, 'small-glossary'], problemForm: FORM },
  { method: 'PATCH', path: '/small/glossaries/{id}', takesBody: true, steps: ['access-log', 'small-echo'] },
  // Some clients send a form with a GET.
  { method: 'GET', path: '/small/echo', takesBody: true, steps: ['access-log', 'small-echo'] },
  { method: 'GET', path: '/small/languages', takesBody: false, steps: ['access-log', 'shed', 'small-languages'], problemForm: FORM },
  { method: 'GET', path: '/small/unreachable', takesBody: false, steps: ['access-log', 'small-unreachable'], problemForm: FORM },
];

export default definePlugin({
  name: 'small-api',
  options: Type.Object({ attempt_ms: Type.Integer({ minimum: 1 }) }, { additionalProperties: false }),
  setup({ attempt_ms }, host) {
    const order = host.reserveSlot<TranslationOrder>('order');
    return { routes: ROUTES, routeSteps: (services) => stepsOf(services, order, attempt_ms) };
  },
});

function stepsOf(services: GatewayServices, order: Slot<TranslationOrder>, attemptMs: number): readonly Step[] {
  return [
    {
      kind: 'body',
      name: 'small-read',
      headers: [...services.credentials.headers, ...FORM_BODY_HEADERS],
      run: (x) => readOrder(x, services, order, attemptMs),
    },
    {
      kind: 'body',
      name: 'small-translate',
      headers: ['traceparent'],
      async run(x) {
        const outcome = await services.translate(x, x.need(order));
        return outcome.kind === 'translated' ? json(JSON.stringify({ translatedText: outcome.translations[0]!.text })) : outcome;
      },
    },
    {
      kind: 'body',
      name: 'small-usage',
      async run(x) {
        const usage = await services.teams.usage(x.need(keyOwnerSlot).teamId);
        if (isUnavailable(usage)) return STORE_UNAVAILABLE;
        return json(JSON.stringify(usage === undefined ? {} : { used: usageReport(usage).character_count }));
      },
    },
    {
      kind: 'body',
      name: 'small-glossary',
      async run(x) {
        const id = canonicalUlid(x.pathParameter);
        const glossary = id === undefined ? undefined : await services.glossaries.find(x.need(keyOwnerSlot).teamId, id);
        if (isUnavailable(glossary)) return STORE_UNAVAILABLE;
        return glossary === undefined ? refuse('glossary_not_found', 'There is none.') : json(JSON.stringify({ name: glossary.name }));
      },
    },
    { kind: 'body', name: 'small-echo', run: (x) => json(JSON.stringify({ bytes: bytesOf(x.body) })) },
    answering('small-languages', () => services.languages().targets.map(({ code }) => code.toLowerCase())),
    { kind: 'body', name: 'small-unreachable', run: () => STORE_UNAVAILABLE },
  ];
}

function answering(name: string, answer: () => unknown): BodyStep {
  return { kind: 'body', name, run: () => json(JSON.stringify(answer())) };
}

function readOrder(x: Exchange, services: GatewayServices, order: Slot<TranslationOrder>, attemptMs: number): Refusal | undefined {
  const read = membersOf(x, services.bodyBytesMax);
  x.body = 'none';
  const sent = services.credentials.read(x.head.headers);
  const key = read.kind === 'members' ? read.members['api_key'] : undefined;
  const refused = services.identify(x, sent.kind === 'missing' && typeof key === 'string' ? keyFrom(key, services) : sent);
  if (refused !== undefined) return refused;
  const judged = read.kind === 'members' ? judge(read.members, services.languages(), attemptMs) : read;
  if ('kind' in judged) {
    // Answered after the admission, so that the rate limit takes precedence.
    x.set(chargeSlot, refusedCharge(judged));
    return undefined;
  }
  x.set(order, judged);
  x.set(chargeSlot, { characters: countCharacters(judged.text[0]!), reserve: true, glossary: undefined, refusal: undefined });
  return undefined;
}

function judge({ q, target }: Members, languages: Languages, attemptMs: number): TranslationOrder | Refusal {
  if (typeof q !== 'string' || q === '') return refuse('validation_error', 'q: must be a text.');
  const targetLang = languages.target(target);
  if (targetLang === undefined) return refuse('invalid_target_lang', 'target: is not supported.');
  return { text: [q], options: { ...NOTHING_CHOSEN, targetLang }, glossaryId: undefined, attemptMs };
}

/** As if it were a bearer token: one pattern for all keys. */
function keyFrom(key: string, services: GatewayServices): ReturnType<GatewayServices['credentials']['read']> {
  return services.credentials.read({ authorization: `Bearer ${key}` });
}

function membersOf({ head, body }: Exchange, bytesMax: number): { readonly kind: 'members'; readonly members: Members } | Refusal {
  if (isFormType(head.headers)) {
    const form = readFormBody(head.headers, body, bytesMax);
    return form.kind === 'fields' ? { kind: 'members', members: Object.fromEntries(form.fields) } : form.refusal;
  }
  const parsed = readJsonBody(head.headers, body, bytesMax);
  if (parsed.kind === 'refused') return parsed.refusal;
  if (typeof parsed.value !== 'object' || parsed.value === null) return refuse('validation_error', 'body: must be an object.');
  return { kind: 'members', members: parsed.value as Members };
}

function bytesOf(body: Body): number {
  return typeof body === 'string' ? 0 : body.length;
}
