// The operations of Google's Cloud Translation API: translations, detections and lists of
// languages. Its versions differ in names and in the shape of answers.
import { canonicalUlid, NO_SUCH_GLOSSARY, NOTHING_CHOSEN, refuse, tagSlot, targetsOffered, TRANSLATION_PROBLEMS } from 'lingate';
import type { NamedTag, Outcome, PluginHost, Refusal, TranslationOptions } from 'lingate';
import Type from 'typebox';
import { standardCode } from '../facades/codes.ts';
import { cachedAnswers, isLocale, namesOf } from '../facades/language-names.ts';
import type { Members } from '../facades/members.ts';
import { answer, operation } from '../facades/operation.ts';
import type { ApiPart, CallerOffer, OperationDoc } from '../facades/operation.ts';
import { readAll } from '../facades/parameters.ts';
import type { Judged, ParameterEntry } from '../facades/parameters.ts';
import { chargeFor, uncharged, detectAll, NO_TEXTS, inOrder, translateAll } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { CODES, invalid, missing } from './google-api.ts';
import type { GoogleApi } from './google-api.ts';

interface GoogleOrder {
  readonly texts: Texts;
  readonly targetLang: string;
  readonly sourceLang: string | undefined;
  /** HTML is the default, whatever the texts contain. */
  readonly format: 'html' | 'text';
  readonly glossaryId: string | undefined;
  readonly tag: NamedTag | undefined;
  /** The engine gets and returns plain text; the answer is escaped. */
  isEscaped: boolean;
}

export type TranslationParameter = ParameterEntry<GoogleOrder, CallerOffer>;

const wrongTarget = (named: string): Refusal =>
  refuse('invalid_target_lang', `Invalid Value: ${named} must be a code of the list of languages.`);

/** Target, source, pair and format as a version calls them, in the order of checks. */
export function choiceParameters(
  names: Readonly<Record<'target' | 'source' | 'format' | 'text' | 'html', string>>,
): readonly TranslationParameter[] {
  const { text, html } = names;
  return [
    {
      name: names.target,
      means: 'targetLang',
      about: 'A code of the list of languages, in any case; `en` and `pt` mean the variant that the operator has chosen.',
      example: 'de',
      missing: (named) => missing(`Required Value: ${named}, the language to translate into.`),
      read: (value, named, _order, { languages, variants }) => CODES.target(value, languages, variants)?.code ?? wrongTarget(named),
    },
    {
      name: names.source,
      means: 'sourceLang',
      about: 'A code of the list of languages; by default the engine detects it.',
      example: 'en',
      read: (value, named, _order, { languages }) =>
        CODES.source(value, languages) ??
        refuse(
          'invalid_source_lang',
          `Invalid Value: ${named} must be a code of the list of languages; without it the language is detected.`,
        ),
    },
    {
      check({ sourceLang, targetLang }, { languages }) {
        if (languages.offers(sourceLang, targetLang)) return undefined;
        const theirs = (code: string): string => CODES.theirs(code);
        const from = sourceLang === undefined ? '' : ` from ${theirs(sourceLang)}`;
        const offered = targetsOffered(sourceLang, languages, theirs);
        return invalid(`Bad language pair: ${names.target} ${theirs(targetLang)} is not offered${from}; ${offered}.`);
      },
    },
    {
      name: names.format,
      means: 'format',
      about: `\`${html}\` (the default) or \`${text}\`. If the engine does not support HTML, texts without \`<\` and \`&\` are treated as text.`,
      example: text,
      read: (value, named) => (value === text ? 'text' : value === html ? 'html' : invalid(`${named}: must be ${text} or ${html}.`)),
    },
    {
      // Texts without markup are the same in HTML as in plain text, which every engine translates.
      check: (order, offer) =>
        lacksHtml(order, offer) && order.texts.text.some((entry) => /[<&]/.test(entry))
          ? invalid(
              `${names.format}: the engine of this service does not support ${html}, and a text contains < or &; send ${names.format} ${text}.`,
            )
          : undefined,
    },
  ];
}

/** Whether HTML is asked of an engine without it. */
function lacksHtml({ sourceLang, targetLang, format }: GoogleOrder, { canFor }: CallerOffer): boolean {
  return format === 'html' && !canFor(sourceLang, targetLang).formats.includes('html');
}

interface GoogleTranslation {
  readonly text: string;
  /** If it was detected. */
  readonly code: string | undefined;
}

/** What a version says of an operation. */
interface GoogleDoc<Meaning> extends OperationDoc {
  readonly parameters: readonly ParameterEntry<Meaning, CallerOffer>[];
}

const NO_GLOSSARY = refuse('glossary_not_found', 'glossaryConfig.glossary: the team has no glossary with this id.');
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** `shape` is the answer. */
export function translation(
  api: GoogleApi,
  host: PluginHost,
  described: GoogleDoc<GoogleOrder>,
  shape: (translations: readonly GoogleTranslation[], hasGlossary: boolean) => object,
): ApiPart {
  const { parameters } = described;
  return operation<Members, GoogleOrder>(api, host, {
    problems: TRANSLATION_PROBLEMS,
    ...described,
    name: 'translation',
    tag: 'Translation',
    scope: 'translate:text',
    read: (x, services) => api.members(x, parameters, services),
    nothing: {
      texts: NO_TEXTS,
      targetLang: '',
      sourceLang: undefined,
      format: 'html',
      glossaryId: undefined,
      tag: undefined,
      isEscaped: false,
    },
    judge(order, members, offer, x) {
      const refusal = readAll(parameters, members, order, offer);
      if (refusal !== undefined) return refusal;
      if (order.tag !== undefined) x.set(tagSlot, order.tag);
      order.isEscaped = lacksHtml(order, offer);
      return undefined;
    },
    charge({ texts: { characters }, glossaryId, sourceLang, targetLang }) {
      // Languages of glossaries are compared without regions, as Google does it.
      const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang: sourceLang!, targetLang, byBase: true };
      return { ...chargeFor(characters, glossary), missingGlossary: NO_GLOSSARY };
    },
    isLengthFirst: true,
    async run({ texts, sourceLang, targetLang, format, glossaryId, isEscaped }, x, services) {
      const options: TranslationOptions = { ...NOTHING_CHOSEN, sourceLang, targetLang, format: isEscaped ? 'text' : format };
      const found = await translateAll(services, x, { text: texts.text, options, glossaryId });
      // It was deleted after the admission had found it.
      if (found.kind !== 'translated') return found === NO_SUCH_GLOSSARY ? NO_GLOSSARY : found;
      const translations = inOrder(texts.entries, found.translations, (one): GoogleTranslation => {
        const code = sourceLang === undefined ? one?.detectedSourceLanguage : undefined;
        const plain = one?.text ?? '';
        const text = isEscaped ? plain.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!) : plain;
        return { text, code: code === undefined ? undefined : CODES.theirs(code) };
      });
      return answer(shape(translations, glossaryId !== undefined));
    },
  });
}

/** A glossary of this service, by its id or a path that ends in it. */
export function readGlossary(
  value: unknown,
  named: string,
  { sourceLang, targetLang }: GoogleOrder,
  { canFor }: CallerOffer,
): Judged<string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid(`${named}: must be an object.`);
  const { glossary, ...others } = value as Readonly<Record<string, unknown>>;
  const other = Object.values(others).some((one) => one !== false && one !== null);
  if (other) return invalid(`${named}: only glossary is supported by this service; leave the others out.`);
  const id = typeof glossary === 'string' ? canonicalUlid(glossary.slice(glossary.lastIndexOf('/') + 1)) : undefined;
  if (id === undefined) return invalid(`${named}.glossary: must be the id of a glossary, or a path that ends in it.`);
  if (sourceLang === undefined) return invalid(`sourceLanguageCode: is required with ${named}.`);
  if (!canFor(sourceLang, targetLang).glossaries) return invalid(`${named}: the engine of this service takes no glossaries; leave it out.`);
  return id;
}

interface DetectionOrder {
  readonly texts: Texts;
}
export type DetectionParameter = ParameterEntry<DetectionOrder, CallerOffer>;

const CANNOT = invalid('The engine of this service does not detect languages: name the source of each translation.');

/** `shape` is the answer; Google's code for an unknown language is `und`, and its confidence 0. */
export function detection(
  api: GoogleApi,
  host: PluginHost,
  described: GoogleDoc<DetectionOrder>,
  shape: (found: readonly { readonly code: string; readonly confidence: number }[]) => object,
): ApiPart {
  const { parameters } = described;
  return operation<Members, DetectionOrder>(api, host, {
    problems: ['text_too_long', 'engine_unavailable'],
    ...described,
    name: 'detection',
    tag: 'Languages',
    scope: 'translate:text',
    read: (x, services) => api.members(x, parameters, services),
    nothing: { texts: NO_TEXTS },
    judge: (order, members, offer, x, services) =>
      readAll(parameters, members, order, offer) ?? (services.engineCanFor(x).detection ? undefined : CANNOT),
    charge: ({ texts }) => uncharged(texts.characters),
    async run({ texts: { entries, text } }, x, services) {
      const found = await detectAll(services, x, text);
      if (found.kind !== 'detected') return found;
      const all = inOrder(entries, found.languages, (code) => ({
        code: code === undefined ? 'und' : CODES.theirs(code),
        confidence: code === undefined ? 0 : 1,
      }));
      return answer(shape(all));
    },
  });
}

interface NamesOrder {
  /** The locale of the names, if there are to be any. */
  readonly locale: string | undefined;
}

/** So many lists are cached: a list of 200 languages takes some 10 kB. */
const LISTS_MAX = 50;
const LOCALE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?$/;

export const ABOUT_LANGUAGES = 'The source and target languages. As a source, a variant such as `pt-BR` is treated as its base code.';

/** The parameter with the language of the names. */
export function localeParameter(name: string): ParameterEntry<NamesOrder, CallerOffer> {
  return {
    name,
    means: 'locale',
    about: 'A code of the list, or another language that the platform knows: the answer then has names in that language.',
    example: 'en',
    read(value, named, _order, { languages, variants }) {
      // Somebody may read a language that is not offered.
      if (typeof value === 'string' && LOCALE.test(value) && isLocale(value)) return value;
      const code = CODES.target(value, languages, variants)?.code ?? CODES.source(value, languages);
      return code === undefined ? wrongTarget(named) : standardCode(code);
    },
  };
}

interface ListedLanguage {
  readonly theirs: string;
  readonly name: string | undefined;
  readonly isSource: boolean;
  /** A code without a region may stand for a variant. */
  readonly isTarget: boolean;
}

/** A list is written once for each locale. */
export function languageList(
  api: GoogleApi,
  host: PluginHost,
  described: GoogleDoc<NamesOrder>,
  shape: (list: readonly ListedLanguage[]) => object,
): ApiPart {
  const listFor = cachedAnswers<Outcome>(LISTS_MAX);
  const { parameters } = described;
  return operation<Members, NamesOrder>(api, host, {
    ...described,
    name: 'languages',
    tag: 'Languages',
    scope: 'languages:read',
    read: (x, services) => api.members(x, parameters, services),
    nothing: { locale: undefined },
    judge: (order, members, offer) => readAll(parameters, members, order, offer),
    run({ locale }, x, services) {
      const languages = services.languages(x);
      const write = (): Outcome => {
        const nameOf = locale === undefined ? undefined : namesOf(languages, locale);
        // Those that are offered themselves, and not a bare code for an offered variant.
        const sorted = CODES.listed(languages, api.variants, languages).toSorted((one, other) => (one.theirs < other.theirs ? -1 : 1));
        return answer(shape(sorted.map((one) => ({ ...one, name: nameOf?.(one.code) }))));
      };
      return listFor(languages, write, locale);
    },
  });
}

export const KEY_IN_QUERY = Type.Boolean({
  default: false,
  description:
    'Whether to accept a key in `?key=` if no header has one, as most clients of that API send it. Lingate never logs it, but proxies may.',
});
