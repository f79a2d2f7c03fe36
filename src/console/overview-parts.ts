// The overview's figures as HTML, part by part: the page is made of them, and the script in it puts new ones in the place of old ones.
import type { StepFigures } from '../admin/live-report.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { byOutcome, OUTCOME_LABELS, outcomeOf, requestsOf } from './overview-figures.ts';
import type { Overview } from './overview-figures.ts';
import { engineTable, stateList } from './overview-state.ts';
import { clock, compact, count, duration, percentage } from './shown.ts';
import { htmlTable } from './html-table.ts';

/** Every part by its name: what a page shows in the element that names it. */
export function partsOf(overview: Overview) {
  return {
    at: html`${clock(overview.nowMs, 'seconds')} UTC`,
    state: stateList(overview),
    figures: figures(overview),
    outcomes: outcomes(overview.whole),
    engines: engineTable(overview.engine.replicas),
    minutes: minutes(overview.minutes),
  };
}

export type PartName = keyof ReturnType<typeof partsOf>;

function figures({ lately, whole, inFlight, nowMs }: Overview): Html {
  const seconds = Math.max(1, (nowMs - lately.atMs) / 1000);
  const requests = requestsOf(lately);
  const { answered, refused, failed } = byOutcome(lately);
  const latency = lately.p50Ms === null || lately.p99Ms === null ? undefined : { p50: lately.p50Ms, p99: lately.p99Ms };
  return html`<dl class="tiles">
    ${tile('Requests', compact(requests / seconds), 'a second', `${count(requestsOf(whole))} in 15 min`)}
    ${tile('Answered', requests === 0 ? '–' : percentage(answered, requests), '', `${count(refused)} refused, ${count(failed)} failed`)}
    ${tile('Latency', latency === undefined ? '–' : duration(latency.p50), 'p50', latency && `p99 ${duration(latency.p99)}`)}
    ${tile('Characters', compact(lately.characters), 'a minute', `${count(whole.characters)} in 15 min`)}
    ${tile('Engine failures', compact(lately.engineFailures), 'a minute', `${count(whole.engineFailures)} in 15 min`)}
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
function outcomes(whole: StepFigures): Html {
  const all = requestsOf(whole);
  if (all === 0) return html`<p class="soft">There were no requests in the last 15 minutes.</p>`;
  const columns = [{ label: 'Outcome' }, { label: 'Requests', figures: true }, { label: 'Share', figures: true }];
  const rows = Object.entries(whole.requests)
    .toSorted(([, a], [, b]) => b - a)
    .map(([code, requests]) => {
      const outcome = outcomeOf(code);
      const name = code === 'ok' || code === 'client_closed' ? OUTCOME_LABELS[outcome] : html`<code>${code}</code>`;
      return [html`<span class="dot ${outcome}"></span> ${name}`, count(requests), percentage(requests, all)];
    });
  return htmlTable({ caption: 'Outcomes of the last 15 minutes', columns, rows });
}

/** The figures of the charts as a table, newest minute first. */
function minutes(all: readonly StepFigures[]): Html {
  const columns = [
    { label: 'Minute from' },
    { label: 'Answered', figures: true },
    { label: 'Refused', figures: true },
    { label: 'Failed', figures: true },
    { label: 'Caller left', figures: true },
    { label: 'p50', figures: true },
    { label: 'p99', figures: true },
    { label: 'Characters', figures: true },
    { label: 'Engine failures', figures: true },
    { label: 'In flight at most', figures: true },
  ];
  const took = (ms: number | null): string => (ms === null ? '–' : duration(ms));
  const rows = all.toReversed().map((minute) => {
    const { answered, refused, failed, left } = byOutcome(minute);
    return [
      clock(minute.atMs, 'minutes'),
      ...[answered, refused, failed, left].map(count),
      took(minute.p50Ms),
      took(minute.p99Ms),
      ...[minute.characters, minute.engineFailures, minute.inFlight].map(count),
    ];
  });
  return htmlTable({ caption: 'The last 15 minutes, minute by minute', columns, rows });
}
