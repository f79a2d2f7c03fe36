// The operations of Google's Cloud Translation API: translations, detections and lists of
// languages. Its versions differ in names and in the shape of answers.
import {
  canonicalUlid,
  NO_SUCH_GLOSSARY,
  NOTHING_CHOSEN,
  refuse,
  refusedCharge,
  tagSlot,
  targetsOffered,
  TRANSLATION_PROBLEMS,
} from 'lingate';
import type { GlossaryReference, Languages, NamedTag, Outcome, PluginHost, Refusal, TranslationOptions } from 'lingate';
import Type from 'typebox';
import { answer, chargeFor, uncharged } from '../facades/api.ts';
import type { ApiPart, CallerOffer } from '../facades/api.ts';
import { sourceNamed, targetNamed } from '../facades/code-names.ts';
import { cachedAnswers } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { isLocale, namesOf, standardCode } from '../facades/language-names.ts';
import type { NameOf } from '../facades/language-names.ts';
import type { Judged, Members } from '../facades/members.ts';
import { operation } from '../facades/facade-operation.ts';
import type { OperationDoc } from '../facades/facade-operation.ts';
import { readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { detectAll, NO_TEXTS, inOrder, translateAll } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { invalid, missing, theirCode } from './google-api.ts';
import type { GoogleApi } from './google-api.ts';

interface GoogleChoice {
  readonly texts: Texts;
  readonly targetLang: string;
  readonly sourceLang: string | undefined;
  /** HTML is the default, whatever the texts contain. */
  readonly format: 'html' | 'text';
  readonly glossaryId: string | undefined;
  readonly tag: NamedTag | undefined;
}
const NOTHING: GoogleChoice = {
  texts: NO_TEXTS,
  targetLang: '',
  sourceLang: undefined,
  format: 'html',
  glossaryId: undefined,
  tag: undefined,
};

export type TranslationParameter = ParameterEntry<GoogleChoice, CallerOffer>;

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
      does: 'served',
      means: 'targetLang',
      about: 'A code of the list of languages, in any case; `en` and `pt` mean the variant that the operator has chosen.',
      example: 'de',
      missing: (named) => missing(`Required Value: ${named}, the language to translate into.`),
      read(value, named, _choice, { languages, variants }) {
        const valid = targetNamed(value, languages, variants)?.code;
        return valid === undefined ? wrongTarget(named) : { valid };
      },
    },
    {
      name: names.source,
      does: 'served',
      means: 'sourceLang',
      about: 'A code of the list of languages; by default the engine detects it.',
      example: 'en',
      read(value, named, _choice, { languages }) {
        const valid = sourceNamed(value, languages);
        const words = `Invalid Value: ${named} must be a code of the list of languages; without it the language is detected.`;
        return valid === undefined ? refuse('invalid_source_lang', words) : { valid };
      },
    },
    {
      check({ sourceLang, targetLang }, { languages }) {
        if (languages.offers(sourceLang, targetLang)) return undefined;
        const from = sourceLang === undefined ? '' : ` from ${theirCode(sourceLang)}`;
        const offered = targetsOffered(sourceLang, languages, theirCode);
        return invalid(`Bad language pair: ${names.target} ${theirCode(targetLang)} is not offered${from}; ${offered}.`);
      },
    },
    {
      name: names.format,
      does: 'served',
      means: 'format',
      about: `\`${html}\` (the default) or \`${text}\`. If the engine does not support HTML, texts without \`<\` and \`&\` are treated as text.`,
      example: text,
      read(value, named) {
        if (value === text) return { valid: 'text' };
        return value === html ? { valid: 'html' } : invalid(`${named}: must be ${text} or ${html}.`);
      },
    },
    {
      // Texts without markup are the same in HTML as in plain text, which every engine translates.
      check: (choice, offer) =>
        choice.format === 'text' || isHtml(choice, offer) || !choice.texts.text.some((entry) => /[<&]/.test(entry))
          ? undefined
          : invalid(
              `${names.format}: the engine of this service does not support ${html}, and a text contains < or &; send ${names.format} ${text}.`,
            ),
    },
  ];
}

/** Whether the engine gets HTML. */
function isHtml({ sourceLang, targetLang, format }: GoogleChoice, { canFor }: CallerOffer): boolean {
  return format === 'html' && canFor(sourceLang, targetLang).formats.includes('html');
}

interface GoogleOrder extends Texts, Pick<GoogleChoice, 'glossaryId'> {
  readonly options: TranslationOptions;
  /** The answer must be HTML, which the engine lacks: it gets and returns plain text. */
  readonly isEscaped: boolean;
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
  described: GoogleDoc<GoogleChoice>,
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
    order(members, offer, x) {
      const choice: GoogleChoice = { ...NOTHING };
      const refusal = readAll(parameters, members, choice, offer);
      const { texts, sourceLang, targetLang, glossaryId, tag } = choice;
      if (refusal !== undefined) return refusedCharge(refusal, texts.characters);
      if (tag !== undefined) x.set(tagSlot, tag);
      const format = isHtml(choice, offer) ? 'html' : 'text';
      const isEscaped = format === 'text' && choice.format === 'html';
      return { valid: { ...texts, glossaryId, isEscaped, options: { ...NOTHING_CHOSEN, sourceLang, targetLang, format } } };
    },
    charge({ characters, glossaryId, options: { sourceLang, targetLang } }) {
      // Languages of glossaries are compared without regions, as Google does it.
      const glossary: GlossaryReference | undefined =
        glossaryId === undefined ? undefined : { glossaryId, sourceLang: sourceLang!, targetLang, byBase: true };
      return { ...chargeFor(characters, glossary), missingGlossary: NO_GLOSSARY };
    },
    async run({ entries, text, options, glossaryId, isEscaped }, x, services) {
      const found = await translateAll(services, x, { text, options, glossaryId });
      // It was deleted after the admission had found it.
      if (found.kind !== 'translated') return found === NO_SUCH_GLOSSARY ? NO_GLOSSARY : found;
      const translations = inOrder(entries, found.translations, (one): GoogleTranslation => {
        const code = options.sourceLang === undefined ? one?.detectedSourceLanguage : undefined;
        const plain = one?.text ?? '';
        const shown = isEscaped ? plain.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!) : plain;
        return { text: shown, code: code === undefined ? undefined : theirCode(code) };
      });
      return answer(shape(translations, glossaryId !== undefined));
    },
  });
}

/** A glossary of this service, by its id or a path that ends in it. */
export function readGlossary(
  value: unknown,
  named: string,
  { sourceLang, targetLang }: GoogleChoice,
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
  return { valid: id };
}

interface Asked {
  readonly texts: Texts;
}
export type DetectionParameter = ParameterEntry<Asked, CallerOffer>;

const CANNOT = invalid('The engine of this service does not detect languages: name the source of each translation.');

/** `shape` is the answer; Google's code for an unknown language is `und`, and its confidence 0. */
export function detection(
  api: GoogleApi,
  host: PluginHost,
  described: GoogleDoc<Asked>,
  shape: (found: readonly { readonly code: string; readonly confidence: number }[]) => object,
): ApiPart {
  const { parameters } = described;
  return operation<Members, Texts>(api, host, {
    problems: ['text_too_long', 'engine_unavailable'],
    ...described,
    name: 'detection',
    tag: 'Languages',
    scope: 'translate:text',
    read: (x, services) => api.members(x, parameters, services),
    order(members, offer, x, services) {
      const asked: Asked = { texts: NO_TEXTS };
      const refusal = readAll(parameters, members, asked, offer);
      if (refusal !== undefined) return refusal;
      return services.engineCanFor(x).detection ? { valid: asked.texts } : CANNOT;
    },
    charge: ({ characters }) => uncharged(characters),
    async run({ entries, text }, x, services) {
      const found = await detectAll(services, x, text);
      if (found.kind !== 'detected') return found;
      const all = inOrder(entries, found.languages, (code) => ({
        code: code === undefined ? 'und' : theirCode(code),
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
    does: 'served',
    means: 'locale',
    about: 'A code of the list, or another language that the platform knows: the answer then has names in that language.',
    example: 'en',
    read(value, named, _order, { languages, variants }) {
      // Somebody may read a language that is not offered.
      if (typeof value === 'string' && LOCALE.test(value) && isLocale(value)) return { valid: value };
      const code = targetNamed(value, languages, variants)?.code ?? sourceNamed(value, languages);
      return code === undefined ? wrongTarget(named) : { valid: standardCode(code) };
    },
  };
}

interface ListedCode {
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
  shape: (list: readonly ListedCode[]) => object,
): ApiPart {
  const listFor = cachedAnswers<Outcome>(LISTS_MAX);
  const { parameters } = described;
  return operation<Members, NamesOrder>(api, host, {
    ...described,
    name: 'languages',
    tag: 'Languages',
    scope: 'languages:read',
    read: (x, services) => api.members(x, parameters, services),
    order(members, offer) {
      const order: NamesOrder = { locale: undefined };
      return readAll(parameters, members, order, offer) ?? { valid: order };
    },
    charge: () => undefined,
    run({ locale }, x, services) {
      const languages = services.languages(x);
      const write = (): Outcome =>
        answer(shape(listed(languages, api.variants, locale === undefined ? undefined : namesOf(languages, locale))));
      return listFor(languages, locale ?? '', write);
    },
  });
}

function listed(languages: Languages, variants: DefaultVariants, nameOf: NameOf | undefined): readonly ListedCode[] {
  const { sources, targets } = languages;
  const [from, into] = [new Set(sources.map(({ code }) => code)), new Set(targets.map(({ code }) => code))];
  const codes = new Map([...targets, ...sources].map(({ code }) => [theirCode(code), code]));
  return [...codes]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([theirs, code]) => {
      const isTarget = into.has(targetNamed(theirs, languages, variants)?.code ?? '');
      return { theirs, name: nameOf?.(code), isSource: from.has(code), isTarget };
    });
}

export const KEY_IN_QUERY = Type.Boolean({
  default: false,
  description:
    'Whether to accept a key in `?key=` if no header has one, as most clients of that API send it. Lingate never logs it, but proxies may.',
});
