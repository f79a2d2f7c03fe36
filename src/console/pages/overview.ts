// The overview: state, figures and charts of the last 15 minutes. Without JavaScript, only the charts are missing.
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import type { Chart, Overview } from '../overview-figures.ts';
import { partsOf } from '../overview-parts.ts';
import type { PartName } from '../overview-parts.ts';
import { chartDataOf } from '../overview-figures.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { namesOf } from '../team-names.ts';
import type { TeamNames } from '../team-names.ts';

/** What the script polls. */
const NEWS_PATH = '/overview.json';

export const OVERVIEW_ROUTES: readonly ConsoleRoute[] = [get('', overviewPage), get(NEWS_PATH, overviewNews)];

async function overviewPage(_visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const overview = await parts.overview();
  const main = mainOf(overview, await busiestNames(parts, overview));
  return pageAnswer({ title: 'Overview', section: 'overview', main, assets: ['uPlot.css', 'overview.js'] });
}

async function overviewNews(_visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const now = await parts.overview();
  const shown = partsOf(now, await busiestNames(parts, now));
  return {
    kind: 'json',
    value: {
      parts: Object.fromEntries(Object.entries(shown).map(([name, part]) => [name, part.text])),
      columns: chartDataOf(now),
      next_ms: now.stepMs - (now.nowMs % now.stepMs),
    },
  };
}

function busiestNames({ context }: ConsoleParts, { busiest: { byRequests, byCharacters } }: Overview): Promise<TeamNames> {
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
    <p class="notice problem" role="status" id="trouble" hidden></p>
    <div id="live" data-news="${CONSOLE_PREFIX}${NEWS_PATH}" data-sign-in="${CONSOLE_PREFIX}/sign-in">
      ${part('state')} ${part('figures')}
      <section class="charts" id="charts" aria-label="Charts of the last 15 minutes" hidden>
        ${chartDataOf(overview).charts.map(figure)}
      </section>
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
      <details open id="minutes">
        <summary><h2>Minute by minute</h2></summary>
        ${part('minutes')}
      </details>
    </div>`;
}

/** The place of a chart: title, legend, and the sentence that describes it. The script draws the chart. */
function figure({ id, title, unit, series, words }: Chart): Html {
  return html`<figure data-chart="${id}">
    <figcaption>
      <span class="name" id="${id}-name">${title} <span class="soft">${unit}</span></span> <span class="at"></span>
      <ul aria-hidden="true">
        ${series.map(({ id: line, label }) => html`<li class="${line}"><span class="key"></span>${label} <b></b></li>`)}
      </ul>
    </figcaption>
    <div class="plot" role="img" aria-labelledby="${id}-name" aria-describedby="${id}-words"></div>
    <p class="unseen" id="${id}-words">${words}</p>
  </figure>`;
}
