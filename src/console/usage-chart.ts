// Usage over time: bars drawn here, without JavaScript, beside the table with the same data.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { htmlTable, numeric } from './html-table.ts';
import { compact, count } from './shown.ts';

/** A day or a month. */
export interface UsedSpan {
  readonly date: string;
  readonly characters: number;
  readonly requests: number;
}

interface UsageChart {
  readonly id: string;
  readonly title: string;
  /** The header of the table's first column. */
  readonly unit: string;
  /** In order, including those without usage. */
  readonly spans: readonly UsedSpan[];
}

/** Units of a bar's drawing, which is stretched to the available space. */
const [STEP, BAR, HEIGHT] = [10, 8, 100];
/** The least height, so that any usage is visible. */
const BAR_HEIGHT_MIN = 1.5;

export function usageChart({ id, title, unit, spans }: UsageChart): Html {
  const most = Math.max(...spans.map(({ characters }) => characters));
  return html`<section class="used" aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    <figure>
      <p class="scale">${most === 0 ? 'Nothing was used' : `${compact(most)} characters`}</p>
      <fieldset class="bars">
        <legend class="unseen">${wordsOf(title, spans, most)}</legend>
        ${spans.map((span, index) => bar(id, span, most, index === spans.length - 1))}
      </fieldset>
      <figcaption class="ends"><span>${spans[0]?.date}</span><span>${spans.at(-1)?.date}</span></figcaption>
    </figure>
    <div class="scroll" role="region" tabindex="0" aria-label="${title} as a table">
      ${htmlTable({
        caption: title,
        compact: true,
        columns: [unit, numeric('Characters'), numeric('Requests')],
        rows: spans.toReversed().map(({ date, characters, requests }) => [date, count(characters), count(requests)]),
      })}
    </div>
  </section>`;
}

/**
 * A radio button whose label is the bar and its figures: the chart is one stop of the Tab key, arrow keys go from bar to bar, and the
 * style sheet shows the figures of the one that is chosen or under the pointer.
 */
function bar(chart: string, { date, characters, requests }: UsedSpan, most: number, isLast: boolean): Html {
  const height = characters === 0 ? 0 : Math.max(BAR_HEIGHT_MIN, (characters / most) * HEIGHT);
  return html`<label
    ><input type="radio" name="${chart}" autocomplete="off" ${isLast ? html`checked` : undefined} /><svg
      viewBox="0 0 ${STEP} ${HEIGHT}"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect x="${(STEP - BAR) / 2}" y="${(HEIGHT - height).toFixed(2)}" width="${BAR}" height="${height.toFixed(2)}"></rect></svg
    ><span class="values"
      >${date}: <strong>${count(characters)}</strong> characters, ${count(requests)} ${requests === 1 ? 'request' : 'requests'}</span
    ></label
  >`;
}

/** The chart in a sentence, for screen readers. */
function wordsOf(title: string, spans: readonly UsedSpan[], most: number): string {
  const sum = spans.reduce((all, { characters }) => all + characters, 0);
  if (sum === 0) return `${title}: nothing was used.`;
  const highest = spans.find(({ characters }) => characters === most)!;
  return `${title}: ${count(sum)} characters in total; the most, ${count(most)}, in ${highest.date}.`;
}
