// A language model behind an OpenAI-compatible API as an engine: one call with all texts, then one call per text if that was
// unusable.
import { countCharacters } from '../../domain/characters.ts';
import { secret } from '../../domain/option-schema.ts';
import { Type } from '../../domain/typebox.ts';
import type { Attempt, EngineProtocol, EngineTokens, EngineWire, EngineWork } from '../../ports/engine.ts';
import { eachText, withoutBlanks } from './each-text.ts';
import { bearer, jsonObjectOf, postJson, trialBy, unusable } from './json-call.ts';
import { lacksModel, tokensOf, translationsIn } from './openai-judge.ts';
import { answerSchema, systemPrompt, userMessage } from './openai-prompt.ts';

/** What makes the answer readable, and its texts and model right. */
const OURS = ['model', 'messages', 'response_format', 'stream', 'n'];

const Options = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 200, description: "The server's name for the model." }),
  api_key: Type.Optional(secret('The key, if the server requires one.')),
  schema: Type.Enum(['json_schema', 'none'], {
    default: 'json_schema',
    description: 'Whether to request the answer with a JSON schema; `none` for servers that reject it. Answers are validated either way.',
  }),
  max_tokens_per_character: Type.Number({
    minimum: 0.1,
    maximum: 100,
    default: 4,
    description: 'Maximum tokens of an answer per character of the call; raise it for models that reason aloud first.',
  }),
  instructions: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 10_000,
      description: 'Added to the system prompt: style, audience, words to keep. The same for every caller.',
    }),
  ),
  body: Type.Optional(
    Type.Refine(
      Type.Record(Type.String(), Type.Unknown(), {
        is: `a mapping without ${OURS.join(', ')}`,
        description:
          'Members added to each call, for example `{ chat_template_kwargs: { enable_thinking: false } }`. They replace `temperature` and `max_tokens`; `null` leaves one of these out.',
      }),
      (value) => !OURS.some((name) => Object.hasOwn(value, name)),
      () => `must not have ${OURS.join(', ')}`,
    ),
  ),
});

interface Settings {
  readonly model: string;
  readonly api_key?: string;
  readonly schema: 'json_schema' | 'none';
  readonly max_tokens_per_character: number;
  readonly instructions?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** For the braces, quotes and keys around each translation. */
const TOKENS_PER_TEXT = 24;

export const openAiProtocol: EngineProtocol<typeof Options> = {
  options: Options,
  // Operators give either the URL used by OpenAI clients, which ends in `/v1`, or the server's.
  pathPrefix: '/v1',
  // Texts in one call can affect each other, so a call never contains texts of two callers.
  can: { textsMax: 50, formats: ['text', 'html', 'xml'], instructions: true, detection: false, sharedCalls: false },
  attempt(work, wire, settings) {
    return withoutBlanks(work.text, (text) => {
      if (wire.attempt === 1 || text.length === 1) return translate(text, work, wire, settings);
      return translateEach(text, work, wire, settings);
    });
  },
  trial: (wire, { api_key }) => trialBy(wire, '/v1/models', { authorization: bearer(api_key) }),
};

/** One call. */
async function translate(text: readonly string[], work: EngineWork, wire: EngineWire, settings: Settings): Promise<Attempt> {
  const response = await postJson(wire, work, '/v1/chat/completions', requestOf(text, work, settings), bearer(settings.api_key));
  const answer = jsonObjectOf(response);
  if (typeof answer === 'string') {
    return lacksModel(response, settings.model) ? { kind: 'unusable', failure: answer, cause: 'model_unknown' } : unusable(answer);
  }
  const translations = translationsIn(answer, text, work.options);
  const tokens = tokensOf(answer);
  return typeof translations === 'string' ? { kind: 'unusable', failure: translations, tokens } : { kind: 'usable', translations, tokens };
}

/** One call per text: whatever spoiled the shared call then only affects its own, and models handle single texts better. */
async function translateEach(text: readonly string[], work: EngineWork, wire: EngineWire, settings: Settings): Promise<Attempt> {
  const spent: (EngineTokens | undefined)[] = [];
  const attempt = await eachText(text, async (entry) => {
    const alone = await translate([entry], work, wire, settings);
    spent.push(alone.tokens);
    return alone.kind === 'usable' ? alone.translations[0]! : alone.failure;
  });
  const sum = (kind: keyof EngineTokens): number => spent.reduce((total, tokens) => total + (tokens?.[kind] ?? 0), 0);
  return { ...attempt, tokens: { prompt: sum('prompt'), completion: sum('completion') } };
}

function requestOf(text: readonly string[], work: EngineWork, settings: Settings): object {
  let characters = 0;
  for (const entry of text) characters += countCharacters(entry);
  const schema = { name: 'translations', strict: true, schema: answerSchema(text.length) };
  return {
    model: settings.model,
    temperature: 0,
    max_tokens: Math.ceil(settings.max_tokens_per_character * characters) + TOKENS_PER_TEXT * text.length,
    messages: [
      { role: 'system', content: systemPrompt(settings.instructions) },
      { role: 'user', content: userMessage(text, work) },
    ],
    response_format: settings.schema === 'none' ? undefined : { type: 'json_schema', json_schema: schema },
    ...added(settings.body),
  };
}

/** A member that is `null` becomes `undefined`, which JSON leaves out. */
function added(body: Settings['body']): object {
  if (body === undefined) return {};
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, value ?? undefined]));
}
