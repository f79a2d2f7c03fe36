// The overview: the state of gateway, store and engines, and the last 15 minutes in figures, charts
// and tables; as a page, and in the parts that its script replaces.
import { html, prose } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import type { Overview } from '../overview-figures.ts';
import { liveCharts } from '../overview-charts.ts';
import { byOutcome, OUTCOME_LABELS, requestsOf } from '../overview-figures.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { brokenAtSlashes, namesOf, problemLink, teamLink, freeText, htmlTable, numeric } from '../cells.ts';
import type { TeamNames } from '../cells.ts';
import { adviceFor, meaningOf } from '../../docs/engine-advice.ts';
import { storeAdvice } from '../../domain/store-unavailable.ts';
import type { ReplicaHealth } from '../../ports/engine.ts';
import type { TeamTraffic } from '../../ports/access-entry.ts';
import type { PluginFigure } from '../../ports/plugin.ts';
import { span } from '../../admin/fields.ts';
import { clock, compact, count, duration, percentage } from '../shown.ts';

/** What the script polls. */
const NEWS_PATH = '/overview.json';

export const OVERVIEW_ROUTES: readonly ConsoleRoute[] = [get('', overviewPage), get(NEWS_PATH, overviewNews)];

async function overviewPage(visit: SignedInVisit): Promise<ConsoleAnswer> {
  const overview = await visit.overview();
  const main = mainOf(overview, await busiestNames(visit, overview));
  return pageAnswer({ title: 'Overview', section: 'overview', main, assets: ['overview.js'] });
}

async function overviewNews(visit: SignedInVisit): Promise<ConsoleAnswer> {
  const now = await visit.overview();
  const shown = partsOf(now, await busiestNames(visit, now));
  const body = JSON.stringify({
    parts: Object.fromEntries(Object.entries(shown).map(([name, part]) => [name, part.text])),
    next_ms: now.stepMs - (now.nowMs % now.stepMs),
  });
  return { kind: 'file', contentType: 'application/json', body };
}

function busiestNames({ context }: SignedInVisit, { busiest: { byRequests, byCharacters } }: Overview): Promise<TeamNames> {
  return namesOf(
    context,
    [...byRequests, ...byCharacters].map(({ teamId }) => teamId),
  );
}

function mainOf(overview: Overview, names: TeamNames): Html {
  const parts = partsOf(overview, names);
  const part = (name: PartName): Html => html`<div data-part="${name}">${parts[name]}</div>`;
  return html`<div class="title">
      <h1>Overview</h1>
      <p class="soft" data-part="at">${parts.at}</p>
    </div>
    <p class="warning" role="status" id="trouble" hidden></p>
    <div id="live" data-news="${CONSOLE_PREFIX}${NEWS_PATH}" data-sign-in="${CONSOLE_PREFIX}/sign-in">
      ${part('state')} ${part('figures')}
      <section class="charts" aria-label="Charts of the last 15 minutes" data-part="charts">${parts.charts}</section>
      <div class="halves">
        <section>
          <h2>Engine</h2>
          ${part('engines')}
        </section>
        <section>
          <h2>Outcomes</h2>
          ${part('outcomes')}
        </section>
      </div>
      <section>
        <h2>Busiest teams</h2>
        ${part('busiest')}
      </section>
      <details id="minutes">
        <summary><h2>Minute by minute</h2></summary>
        ${part('minutes')}
      </details>
    </div>`;
}

/** Every part by its name: the contents of the element with that name. */
function partsOf(overview: Overview, names: TeamNames) {
  return {
    at: html`${clock(overview.nowMs, 'seconds')} UTC`,
    state: stateList(overview),
    figures: figures(overview),
    charts: liveCharts(overview),
    outcomes: outcomes(overview),
    engines: html`${engineTable(overview)} ${routingTable(overview)}`,
    busiest: busiest(overview, names),
    minutes: minutes(overview),
  };
}

type PartName = keyof ReturnType<typeof partsOf>;

function figures({ lately, whole, inFlight, nowMs, outcomeOf }: Overview): Html {
  const seconds = Math.max(1, (nowMs - lately.atMs) / 1000);
  const requests = requestsOf(lately);
  const { answered, refused, failed } = byOutcome(lately, outcomeOf);
  const latency = lately.p50Ms === null || lately.p99Ms === null ? undefined : { p50: lately.p50Ms, p99: lately.p99Ms };
  return html`<dl class="tiles">
    ${tile('Requests', compact(requests / seconds), 'per second', `${count(requestsOf(whole))} in 15 min`)}
    ${tile('Answered', requests === 0 ? '–' : percentage(answered, requests), 'in 1 min', `${count(refused)} refused, ${count(failed)} failed`)}
    ${tile('Latency', latency === undefined ? '–' : duration(latency.p50), 'p50', latency && `p99 ${duration(latency.p99)}`)}
    ${tile('Characters', compact(lately.characters), 'per minute', `${count(whole.characters)} in 15 min`)}
    ${tile('Engine failures', compact(lately.engineFailures), 'per minute', `${count(whole.engineFailures)} in 15 min`)}
    ${tile('In flight', count(inFlight), 'now', `at most ${count(Math.max(whole.inFlight, inFlight))} in 15 min`)}
  </dl>`;
}

function tile(name: string, value: string, unit: string, more: string | undefined): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd><b>${value}</b> <span>${unit}</span></dd>
    <dd class="more">${more ?? ' '}</dd>
  </div>`;
}

/** Codes, most frequent first. */
function outcomes({ whole, outcomeOf }: Overview): Html {
  const all = requestsOf(whole);
  if (all === 0) return html`<p class="soft">There were no requests in the last 15 minutes.</p>`;
  const rows = Object.entries(whole.requests)
    .toSorted(([, a], [, b]) => b - a)
    .map(([code, requests]) => {
      const outcome = outcomeOf(code);
      const name = code === 'ok' || code === 'client_closed' ? OUTCOME_LABELS[outcome] : problemLink(code);
      return [html`<span class="dot ${outcome}"></span> ${name}`, count(requests), percentage(requests, all)];
    });
  const columns = ['Outcome', numeric('Requests'), numeric('Share')];
  return htmlTable({ caption: 'Outcomes of the last 15 minutes', compact: true, columns, rows });
}

/** Two lists of the same teams' figures, and what they count. */
function busiest({ busiest: { byRequests, byCharacters, uncounted }, processes }: Overview, names: TeamNames): Html {
  const where = processes.expected === 1 ? 'this gateway' : `the ${count(processes.expected)} workers of this gateway`;
  const more = uncounted === 0 ? '' : ` ${count(uncounted)} requests of further teams are not counted by team.`;
  const columns = [freeText('Team'), ...['Requests', 'Not answered', 'Characters'].map(numeric)];
  const list = (order: string, teams: readonly TeamTraffic[], none: string): Html => {
    if (teams.length === 0) return html`<p class="soft">${none}</p>`;
    const rows = teams.map(({ teamId, requests, unanswered, characters }) => [
      teamLink(names, teamId),
      ...[requests, unanswered, characters].map(count),
    ]);
    return html`<div>
      <h3>By ${order}</h3>
      ${htmlTable({ caption: `The busiest teams by ${order}`, columns, rows })}
    </div>`;
  };
  return html`<p class="soft">Requests that ended in the last 15 minutes, and the characters charged for them, by ${where}.${more}</p>
    <div class="halves">
      ${list('requests', byRequests, 'No team has sent a request.')}
      ${byRequests.length === 0 ? undefined : list('characters', byCharacters, 'No characters were charged.')}
    </div>`;
}

const MINUTE_FIGURES = ['Answered', 'Refused', 'Failed', 'Caller left', 'p50', 'p99', 'Characters', 'Engine failures', 'Most in flight'];

/** The figures of the charts as a table, newest minute first. */
function minutes({ minutes: all, outcomeOf }: Overview): Html {
  const took = (ms: number | null): string => (ms === null ? '–' : duration(ms));
  const rows = all
    .toReversed()
    .map((minute) => [
      clock(minute.atMs, 'minutes'),
      ...Object.values(byOutcome(minute, outcomeOf)).map(count),
      ...[minute.p50Ms, minute.p99Ms].map(took),
      ...[minute.characters, minute.engineFailures, minute.inFlight].map(count),
    ]);
  const columns = ['Minute from', ...MINUTE_FIGURES.map(numeric)];
  return htmlTable({ caption: 'The last 15 minutes, minute by minute', columns, rows });
}

interface State {
  readonly mood: 'good' | 'warn' | 'bad' | 'idle';
  readonly words: string;
}

function stateText({ mood, words }: State): Html {
  return html`<span class="state ${mood}">${words}</span>`;
}

/** Gateway, store, engines and plugins, one line each; the clock's only while it is wrong. */
function stateList(overview: Overview): Html {
  const { processes, startedAtMs, nowMs, version, store, engines, plugins } = overview;
  const line = (name: string, state: State | undefined, ...more: readonly string[]): Html =>
    html`<li>
      <b>${name}</b> ${state && stateText(state)} <span class="soft">${more.filter((words) => words !== '').join(' · ')}</span>
    </li>`;
  const workers = processes.expected > 1 ? `${processes.answering} of ${processes.expected} workers answer` : '';
  const { openSettlements: open, fault, clockStepMs: step } = store;
  const settlements = open === 0 ? '' : `${count(open)} open ${open === 1 ? 'settlement' : 'settlements'}`;
  const advice = fault === undefined ? undefined : storeAdvice(fault);
  return html`<ul class="states">
    ${line('Gateway', gatewayState(overview), workers, `up ${span(nowMs - startedAtMs)}`, `version ${version}`)}
    ${line('Store', storeState(store), store.url, settlements, advice ?? '')}
    ${step && line('Clock', { mood: 'bad', words: `wrong: ${span(Math.abs(step))} ${step > 0 ? 'ahead' : 'behind'}` }, CLOCK_ADVICE)}
    ${engines.map(({ name, protocol, replicas }) =>
      line(engines.length === 1 ? 'Engine' : `Engine ${name}`, engineState(replicas), protocol, howMany(replicas)),
    )}
    ${plugins.map(({ plugin, figures: shown }) => line(`Plugin ${plugin}`, undefined, ...shown.map(figureText)))}
  </ul>`;
}

const CLOCK_ADVICE = 'requests are answered 503 until it is right, or accepted by “lingate store check --accept-clock”';

function howMany(replicas: readonly ReplicaHealth[]): string {
  const failing = replicas.filter((replica) => stateOf(replica).mood === 'bad').length;
  if (replicas.length === 1) return 'one replica';
  return `${count(replicas.length)} replicas${failing === 0 ? '' : `, ${count(failing)} of them failing`}`;
}

function figureText(figure: PluginFigure): string {
  if ('count' in figure) return `${count(figure.count)} ${figure.name}`;
  return `${figure.whole === 0 ? '–' : `${Math.round((100 * figure.part) / figure.whole)} %`} ${figure.name}`;
}

function engineTable({ engines }: Overview): Html {
  const several = engines.length > 1;
  const columns = [...(several ? ['Engine'] : []), 'Replica', 'State', 'Last failure', numeric('Usable'), numeric('Failed')];
  const rows = engines.flatMap(({ name, replicas }) =>
    replicas.map((replica) => {
      const { url, usable, failed } = replica;
      const address = html`<code>${brokenAtSlashes(url)}</code>`;
      return [...(several ? [name] : []), address, stateText(stateOf(replica)), failureText(replica), count(usable), count(failed)];
    }),
  );
  const whose = several ? "The engines' replicas" : "The engine's replicas";
  return htmlTable({ caption: `${whose}, attempts since each process started`, columns, rows });
}

/** While the replica does not work, with the sentence of `lingate engine check`. */
function failureText(replica: ReplicaHealth): Html | string {
  const { lastFailure: last } = replica;
  if (last === undefined) return '–';
  const advice = stateOf(replica).mood === 'bad' ? html`<br /><span class="soft">${adviceFor(last)}</span>` : undefined;
  return html`${prose(meaningOf(last.failure))} (<code>${last.failure}</code>), ${span(last.agoMs)} ago${advice}`;
}

/** In the order in which the rules are tried; they may also decide who may use the only engine. */
function routingTable({ engines, routing }: Overview): Html | undefined {
  if (engines.length === 1 && routing === undefined) return undefined;
  const rules = routing ?? [{ engines: engines.map(({ name }) => name) }];
  const columns = ['Plans', 'Pairs', 'Engines, in their order'];
  const rows = rules.map(({ plans, pairs, engines: names }) => [plans?.join(', ') ?? 'all', pairs?.join(', ') ?? 'all', names.join(', ')]);
  return htmlTable({ caption: 'Routing: the first rule that matches a request decides', columns, rows });
}

function gatewayState({ processes, draining }: Overview): State {
  if (processes.answering === 0) return { mood: 'bad', words: 'no worker answers' };
  if (draining) return { mood: 'warn', words: 'draining' };
  return processes.answering < processes.expected ? { mood: 'warn', words: 'short of workers' } : { mood: 'good', words: 'serving' };
}

function storeState({ answers, fault, tookMs }: Overview['store']): State {
  if (!answers) return { mood: 'bad', words: `does not answer${fault === undefined ? '' : ` (${fault})`}` };
  if (fault !== undefined) return { mood: 'bad', words: `takes no writes (${fault})` };
  return { mood: 'good', words: tookMs === undefined ? 'answers' : `answers in ${duration(tookMs)}` };
}

const ANSWERS: State = { mood: 'good', words: 'answers' };
const NOT_ALWAYS: State = { mood: 'warn', words: 'answers, not always' };
const UNUSED: State = { mood: 'idle', words: 'not used yet' };
const FAILS: State = { mood: 'bad', words: 'fails' };

/** `bad` only if no replica works, because a second attempt goes to another one. */
function engineState(replicas: readonly ReplicaHealth[]): State {
  const moods = new Set(replicas.map((replica) => stateOf(replica).mood));
  if (!moods.has('bad') && !moods.has('warn')) return moods.has('good') ? ANSWERS : UNUSED;
  return moods.has('good') || moods.has('warn') ? NOT_ALWAYS : FAILS;
}

/** A replica is said to answer if its latest attempt succeeded and its latest failure is older than this. */
const RECENT_MS = 60_000;

/** By the latest event, a success or a failure, unless the replica is set aside. */
function stateOf({ usableAgoMs, lastFailure, asideMs, reached }: ReplicaHealth): State {
  if (asideMs !== undefined)
    return { mood: 'bad', words: asideMs === 0 ? 'set aside, the next request tries it' : `set aside for ${span(asideMs + 999)}` };
  if (reached === false) return { mood: 'bad', words: `cannot be used: ${lastFailure?.failure ?? 'connect'}` };
  if (lastFailure === undefined) return usableAgoMs === undefined ? UNUSED : ANSWERS;
  if (usableAgoMs === undefined || usableAgoMs > lastFailure.agoMs) return FAILS;
  return lastFailure.agoMs < RECENT_MS ? NOT_ALWAYS : ANSWERS;
}
