// Language codes as Azure writes them, such as `de`, `pt-PT` and `zh-Hans`; and GET /languages, which needs no key, as at Azure.
import Type from 'typebox';
import { validated } from 'lingate';
import type { Languages, RouteDoc, ValidatedReply } from 'lingate';
import { answer, keylessRoute, keylessStep } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { sourceNamed, targetNamed } from '../facades/code-names.ts';
import { madeOnce } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { namesIn, standardCode } from '../facades/language-names.ts';
import type { Judged } from '../facades/members.ts';
import { answered, parameter, string } from '../facades/reference.ts';
import { API_VERSION, judgeVersion, LOGGED, queryOf, wrong } from './azure-request.ts';
import type { Query } from './azure-request.ts';

/** Our codes that Azure writes differently, not just in another case. */
const THEIRS: ReadonlyMap<string, string> = new Map([
  ['ZH-CN', 'zh-Hans'],
  ['ZH-TW', 'zh-Hant'],
  ['NO', 'nb'],
  ['IW', 'he'],
  ['SR', 'sr-Cyrl'],
  ['MN', 'mn-Cyrl'],
  ['NY', 'nya'],
  ['LG', 'lug'],
  ['RN', 'run'],
  ['CKB', 'ku'],
  ['KU', 'kmr'],
  ['HMN', 'mww'],
  ['TL', 'fil'],
]);
/** Codes that mean another language here than elsewhere: Kurdish is the one of Iraq. */
const OURS: ReadonlyMap<string, string> = new Map([['ku', 'CKB']]);

/** `code` is in upper case. A bare `ZH` is simplified Chinese. */
export function theirCode(code: string): string {
  return THEIRS.get(code) ?? standardCode(code);
}

export interface Target {
  /** The code in the answer, in Azure's spelling: the requested one, or the one that it means. */
  readonly to: string;
  /** Canonical. */
  readonly targetLang: string;
}

/** The target for a code; `undefined` if it is none. */
export function targetCode(value: string, languages: Languages, variants: DefaultVariants): Target | undefined {
  const found = targetNamed(OURS.get(value.toLowerCase()) ?? value, languages, variants);
  return found === undefined ? undefined : { to: theirCode(found.name), targetLang: found.code };
}

/** The canonical source for a code; `undefined` if it is none. */
export function sourceCode(value: string, languages: Languages): string | undefined {
  return sourceNamed(OURS.get(value.toLowerCase()) ?? value, languages);
}

const SCOPES = ['translation', 'transliteration', 'dictionary'] as const;
type Scope = (typeof SCOPES)[number];

const Direction = Type.Union([Type.Literal('ltr'), Type.Literal('rtl')], { description: 'The direction of its script.' });
const Nothing = Type.Optional(Type.Object({}, { description: 'Empty: there is none.' }));

const DOC: RouteDoc = {
  summary: 'List languages',
  description: 'The source and target languages, by their codes. Names are in English.',
  authenticated: false,
  tag: 'Languages',
  query: [
    API_VERSION,
    parameter(
      'scope',
      'translation',
      'The requested parts of the answer, separated by commas: `translation`, `transliteration`, `dictionary`. All by default.',
    ),
  ],
  answer: answered(
    'The list.',
    Type.Object({
      translation: Type.Optional(
        Type.Record(
          Type.String(),
          Type.Object({ name: string('In English.'), nativeName: string('In the language itself.'), dir: Direction }),
        ),
      ),
      transliteration: Nothing,
      dictionary: Nothing,
    }),
    { translation: { de: { name: 'German', nativeName: 'Deutsch', dir: 'ltr' } } },
  ),
};

/** What clients send: not parsed. */
const USUAL_QUERY = 'api-version=3.0';

export function languageList(variants: DefaultVariants): ApiPart {
  const listFor = madeOnce((languages) => translatable(languages, variants));
  // One for each set of scopes, in one order: seven at most.
  const answersFor = madeOnce(() => new Map<string, ValidatedReply>());
  const answerFor = (languages: Languages, scopes: readonly Scope[]): ValidatedReply => {
    const answers = answersFor(languages);
    const key = scopes.join();
    let known = answers.get(key);
    if (known === undefined) {
      known = validated(answer(Object.fromEntries(scopes.map((scope) => [scope, scope === 'translation' ? listFor(languages) : {}]))));
      answers.set(key, known);
    }
    return known;
  };
  return {
    routes: [keylessRoute('/languages', [...LOGGED, 'shed', 'azure-languages'], DOC)],
    steps: (services) => [
      keylessStep('azure-languages', (x) => {
        if (x.head.query === USUAL_QUERY) return answerFor(services.languages(), SCOPES);
        const query = queryOf(x.head.query);
        const version = judgeVersion(query);
        if ('problem' in version) return version;
        const scopes = scopesOf(query);
        return 'problem' in scopes ? scopes : answerFor(services.languages(), scopes.sound);
      }),
    ],
  };
}

const WRONG_SCOPE = wrong(400_001, `scope: must be ${SCOPES.join(', ')}, or several of them separated by commas.`);
/** The longest value: all of them, with a blank after each comma, and more. */
const SCOPE_LENGTH_MAX = 64;

/** In one order, whatever order was sent. */
function scopesOf(query: Query): Judged<readonly Scope[]> {
  const given = (query.get('scope') ?? []).filter((value) => value !== '').join();
  if (given === '') return { sound: SCOPES };
  if (given.length > SCOPE_LENGTH_MAX) return WRONG_SCOPE;
  const words = given.split(',').map((word) => word.trim().toLowerCase());
  if (words.some((word) => !SCOPES.some((scope) => scope === word))) return WRONG_SCOPE;
  return { sound: SCOPES.filter((scope) => words.includes(scope)) };
}

/** Each language offered as a source or a target; clients have one list for both menus. */
function translatable(languages: Languages, variants: DefaultVariants): Readonly<Record<string, object>> {
  const { all, sources, targets } = languages;
  const [from, into] = [new Set(sources.map(({ code }) => code)), new Set(targets.map(({ code }) => code))];
  const found = new Map<string, object>();
  for (const { code, name } of [...all.sources, ...all.targets]) {
    const key = theirCode(code);
    const meant = targetCode(key, languages, variants)?.targetLang;
    if (found.has(key) || (!from.has(code) && (meant === undefined || !into.has(meant)))) continue;
    found.set(key, { name, nativeName: namesIn(standardCode(code))(code) ?? name, dir: directionOf(key) });
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Written from right to left; by base code. */
const RIGHT_TO_LEFT = new Set(['ar', 'dv', 'fa', 'he', 'ks', 'ku', 'prs', 'ps', 'sd', 'ug', 'ur', 'yi']);

function directionOf(code: string): 'ltr' | 'rtl' {
  const [base = '', script] = code.split('-');
  return script === 'Arab' || (RIGHT_TO_LEFT.has(base) && script !== 'Latn') ? 'rtl' : 'ltr';
}
