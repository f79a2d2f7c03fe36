// GET /languages, which needs no key, as at Azure.
import Type from 'typebox';
import type { Languages } from 'lingate';
import { standardCode } from '../facades/codes.ts';
import type { DefaultVariants } from '../facades/codes.ts';
import { acceptedLocale, namesIn, namesOf } from '../facades/language-names.ts';
import { answer, keyless } from '../facades/operation.ts';
import type { ApiPart } from '../facades/operation.ts';
import { isRefusal } from '../facades/parameters.ts';
import type { Judged } from '../facades/parameters.ts';
import { answered, parameter, string } from '../facades/reference.ts';
import { apiVersion, CODES, LOGGED, queryOf, VERSIONS, versionOf, wrong } from './azure-api.ts';
import type { AzureVersion, Query } from './azure-api.ts';

/** The values of `scope`. */
const SCOPES: Readonly<Record<AzureVersion, readonly string[]>> = {
  '3.0': ['translation', 'transliteration', 'dictionary'],
  '2026-06-06': ['translation', 'transliteration', 'models'],
};

const Direction = Type.Union([Type.Literal('ltr'), Type.Literal('rtl')], { description: 'The direction of its script.' });
const Nothing = Type.Optional(Type.Object({}, { description: 'Empty: there is none.' }));
const Models = Type.Array(Type.String(), { description: 'Empty: there is no choice of models. Only version 2026-06-06.' });

/** More than the platform has languages; a list of 40 takes some 4 kB. */
const LISTS_MAX = 500;

const DOC = {
  summary: 'List languages',
  description:
    'The source and target languages, by their codes. Names are in the first language of `Accept-Language` in which there are any, otherwise in English.',
  tag: 'Languages',
  query: [
    apiVersion(),
    parameter(
      'scope',
      'translation',
      `The requested parts of the answer, separated by commas: ${VERSIONS.map((version) => `${SCOPES[version].map((one) => `\`${one}\``).join(', ')} in version ${version}`).join('; ')}. All by default.`,
    ),
  ],
  answer: {
    headers: { Vary: { description: 'Names depend on it.', example: 'Accept-Language' } },
    ...answered(
      'The list.',
      Type.Object({
        translation: Type.Optional(
          Type.Record(
            Type.String(),
            Type.Object({
              name: string('As `Accept-Language` has it.'),
              nativeName: string('In the language itself.'),
              dir: Direction,
              models: Type.Optional(Models),
            }),
          ),
        ),
        transliteration: Nothing,
        dictionary: Nothing,
        models: Type.Optional(Models),
      }),
      { translation: { de: { name: 'German', nativeName: 'Deutsch', dir: 'ltr' } } },
    ),
  },
};

export function languageList(variants: DefaultVariants): ApiPart {
  return keyless<ListQuestion>({
    path: '/languages',
    steps: [...LOGGED, 'shed', 'azure-languages'],
    doc: DOC,
    headers: ['accept-language'],
    answersMax: LISTS_MAX,
    read({ head }) {
      const query = queryOf(head.query);
      const version = versionOf(query);
      if (isRefusal(version)) return version;
      const scopes = scopesOf(query, SCOPES[version]);
      return isRefusal(scopes) ? scopes : { version, scopes, locale: acceptedLocale(head.headers['accept-language']) };
    },
    make(languages, _services, { version, scopes, locale }) {
      const models = version === '3.0' ? undefined : [];
      const parts: Readonly<Record<string, object>> = { translation: translatable(languages, variants, locale, models), models: [] };
      const body = Object.fromEntries(scopes.map((scope) => [scope, parts[scope] ?? {}]));
      return { ...answer(body), headers: [['Vary', 'Accept-Language']] };
    },
  });
}

interface ListQuestion {
  readonly version: AzureVersion;
  readonly scopes: readonly string[];
  readonly locale: string;
}

/** The longest value: all of them, with a blank after each comma, and more. */
const SCOPE_LENGTH_MAX = 64;

/** In one order, whatever order was sent. */
function scopesOf(query: Query, all: readonly string[]): Judged<readonly string[]> {
  const given = [query.get('scope') ?? []]
    .flat()
    .filter((value) => value !== '')
    .join();
  if (given === '') return all;
  const words = given.length > SCOPE_LENGTH_MAX ? [''] : given.split(',').map((word) => word.trim().toLowerCase());
  return words.every((word) => all.includes(word))
    ? all.filter((scope) => words.includes(scope))
    : wrong(400_001, `scope: must be ${all.join(', ')}, or several of them separated by commas.`);
}

/** Each language offered as a source or a target. */
function translatable(
  languages: Languages,
  variants: DefaultVariants,
  locale: string,
  models: readonly string[] | undefined,
): Readonly<Record<string, object>> {
  const nameOf = namesOf(languages, locale);
  const offered = CODES.listed(languages, variants).filter(({ isSource, isTarget }) => isSource || isTarget);
  const shown = offered.map(({ theirs, code, name }) => {
    const nativeName = namesIn(standardCode(code))(code) ?? name;
    return [theirs, { name: nameOf(code) ?? name, nativeName, dir: directionOf(theirs), models }] as const;
  });
  return Object.fromEntries(shown.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Written from right to left; by base code. */
const RIGHT_TO_LEFT = new Set(['ar', 'dv', 'fa', 'he', 'ks', 'ku', 'prs', 'ps', 'sd', 'ug', 'ur', 'yi']);

function directionOf(code: string): 'ltr' | 'rtl' {
  const [base = '', script] = code.split('-');
  return script === 'Arab' || (RIGHT_TO_LEFT.has(base) && script !== 'Latn') ? 'rtl' : 'ltr';
}
