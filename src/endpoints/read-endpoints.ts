// The routes that only read: GET /health, from the last result of the background probe; GET
// /v1/languages, what is offered; GET /v1/usage, the team's usage in its current period and, if
// requested, by day, in settled counts only.
import { json } from '../core/outcome.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { HeadStep, BodyStep } from '../core/pipeline.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Languages } from '../domain/languages.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { STORE_UNAVAILABLE, UNKNOWN_KEY } from '../domain/refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { dayReports, readDayRange, usageReport } from '../domain/usage-days.ts';
import type { DayRange } from '../domain/usage-days.ts';
import type { TeamRegistry } from '../ports/team-registry.ts';
import type { UsageHistory } from '../ports/usage-history.ts';

const OK = json('{"status":"ok"}');
const NOT_SERVING = refuse('service_unavailable', 'This instance cannot serve at the moment; try again in a few seconds.');

/** `serving` says whether the store answered recently and the gateway is not draining. */
export function healthEndpoint(serving: () => boolean): HeadStep {
  return { kind: 'head', name: 'health', run: () => (serving() ? OK : NOT_SERVING) };
}

const BAD_TYPE = refuse('validation_error', 'type: must be source or target.');
const BAD_QUERY = refuse('validation_error', 'Unknown query parameter. The only parameter is type, given once.');

interface Answers {
  readonly source: Outcome;
  readonly target: Outcome;
}

/** `languages` returns those that the team can reach. */
export function languagesEndpoint(languages: (x: Exchange) => Languages): BodyStep {
  // Rendered once per list, not per request; a reload can replace the list.
  const rendered = new WeakMap<Languages, Answers>();
  return {
    kind: 'body',
    name: 'languages',
    run(x) {
      const current = languages(x);
      let answers = rendered.get(current);
      if (answers === undefined) rendered.set(current, (answers = render(current)));
      const type = typeOf(x.head.query);
      if (type === 'source' || type === 'target') return answers[type];
      return type === undefined ? BAD_QUERY : BAD_TYPE;
    },
  };
}

/** The value of `type` (`source` by default); `undefined` if there is any other parameter. */
function typeOf(query: string): string | undefined {
  if (query === '') return 'source';
  // With a `?` in front: URLSearchParams drops a leading one, which may belong to the query.
  const parameters = [...new URLSearchParams(`?${query}`)];
  if (parameters.length !== 1 || parameters[0]![0] !== 'type') return undefined;
  return parameters[0]![1];
}

function render(languages: Languages): Answers {
  const source = languages.sources.map(({ code, name }) => ({ language: code, name }));
  const target = languages.targets.map(({ code, name, formality }) => ({ language: code, name, supports_formality: formality }));
  return { source: json(JSON.stringify(source)), target: json(JSON.stringify(target)) };
}

export function usageEndpoint(teams: Pick<TeamRegistry, 'usage'>, history: Pick<UsageHistory, 'days'>): BodyStep {
  return {
    kind: 'body',
    name: 'usage',
    run: async (x) => {
      const { teamId } = x.need(keyOwnerSlot);
      const range = x.head.query === '' ? undefined : rangeOf(x.head.query);
      if (range !== undefined) return 'kind' in range ? range : withDays(teams, history, teamId, range);
      const usage = await teams.usage(teamId);
      if (isUnavailable(usage)) return STORE_UNAVAILABLE;
      return usage === undefined ? UNKNOWN_KEY : json(JSON.stringify(usageReport(usage)));
    },
  };
}

/** `undefined` if no days are requested; other parameters have always been ignored here. */
function rangeOf(query: string): DayRange | Refusal | undefined {
  // With a `?` in front: URLSearchParams drops a leading one, which may belong to the query.
  const parameters = new URLSearchParams(`?${query}`);
  for (const name of ['from', 'to']) {
    if (parameters.getAll(name).length > 1) return refuse('validation_error', `${name}: is given twice; give it once.`);
  }
  const range = readDayRange(parameters.get('from') ?? undefined, parameters.get('to') ?? undefined);
  return range !== undefined && 'fault' in range ? refuse('validation_error', `${range.field}: ${range.fault}.`) : range;
}

async function withDays(
  teams: Pick<TeamRegistry, 'usage'>,
  history: Pick<UsageHistory, 'days'>,
  teamId: string,
  range: DayRange,
): Promise<Outcome> {
  const [usage, days] = await Promise.all([teams.usage(teamId), history.days(teamId, range)]);
  if (isUnavailable(usage) || isUnavailable(days)) return STORE_UNAVAILABLE;
  if (usage === undefined || days === undefined) return UNKNOWN_KEY;
  return json(JSON.stringify({ ...usageReport(usage), days: dayReports(days.days) }));
}
