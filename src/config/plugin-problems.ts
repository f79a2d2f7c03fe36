// The problem codes of plugins: checked when a plugin is loaded, answered by `host.refuse`, listed on the error page.
import { problems, refuseAs } from '../core/problem.ts';
import type { ProblemKind } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import type { PluginProblem } from '../ports/plugin.ts';
import type { LoadedProblem, PluginRoute } from '../ports/plugin-route.ts';

const CODE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

/** The faults of a plugin's codes, one line each; `taken` are the codes of the plugins before it. */
export function problemFaults(declared: unknown, taken: ReadonlyMap<string, LoadedProblem>): string[] {
  if (declared === undefined) return [];
  if (typeof declared !== 'object' || declared === null) return ['problems: must be an object of codes'];
  return Object.entries(declared).flatMap(([code, problem]) => [
    ...codeFaults(code, taken).map((fault) => `problems: ${fault}`),
    ...memberFaults(problem).map((fault) => `problems.${code}${fault}`),
  ]);
}

function codeFaults(code: string, taken: ReadonlyMap<string, LoadedProblem>): string[] {
  if (!CODE.test(code)) return [`"${code}" is not a code; write it in lower case with underscores, for example back_soon`];
  if (code in problems || code === 'ok' || code === 'client_closed') return [`${code} belongs to the gateway; choose another word`];
  const other = taken.get(code);
  return other === undefined ? [] : [`${code} already belongs to plugin "${other.plugin}"; choose another word`];
}

function memberFaults(problem: unknown): string[] {
  if (typeof problem !== 'object' || problem === null) return [': must be an object with status, title and retry'];
  const { status, title, retry, meaning, advice } = problem as Partial<Record<keyof PluginProblem, unknown>>;
  const sound = Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599;
  return [
    ...(sound ? [] : ['.status: must be a whole number from 400 to 599']),
    ...(isWords(title) ? [] : ['.title: must be a few words']),
    ...(typeof retry === 'boolean' ? [] : ['.retry: must be true or false']),
    ...(meaning === undefined || isWords(meaning) ? [] : ['.meaning: must be a sentence']),
    ...(advice === undefined || isWords(advice) ? [] : ['.advice: must be a sentence']),
  ];
}

function isWords(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Codes named in a route's documentation that do not exist. */
export function undeclaredCodes(routes: readonly PluginRoute[], own: ReadonlyMap<string, LoadedProblem>): string[] {
  const named = new Set(routes.flatMap(({ doc }) => doc?.problems ?? []));
  return [...named]
    .filter((code) => !(code in problems || own.has(code)))
    .map((code) => `a route's documentation names the problem "${code}"; declare it under problems`);
}

/** For a plugin whose codes have no faults. */
export function loadedProblems(plugin: string, declared: Readonly<Record<string, PluginProblem>> = {}): Map<string, LoadedProblem> {
  return new Map(Object.entries(declared).map(([code, problem]) => [code, { plugin, kind: kindOf(problem), advice: problem.advice }]));
}

function kindOf({ status, title, retry, meaning = `${title}.` }: PluginProblem): ProblemKind {
  return { status, title, meaning, retry, fields: [], mayHave: [], headers: retry ? ['Retry-After'] : [], dashboardOnly: false };
}

/** `host.refuse` of a plugin with these codes. Throws for a code that it has not declared, which is a bug in the plugin. */
export function refuseBy(own: ReadonlyMap<string, LoadedProblem>) {
  return (code: string, detail: string, fields?: Readonly<Record<string, string | number>>): Refusal => {
    const kind = own.get(code)?.kind;
    if (kind === undefined) throw new Error(`the plugin has no problem code "${code}"; declare it under problems`);
    return refuseAs(code, kind, detail, fields);
  };
}
