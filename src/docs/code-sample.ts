// Code samples with captions: JSON in colour, whole HTTP answers, requests for a shell.
import { STATUS_CODES } from 'node:http';
import { html } from './html.ts';
import type { Html } from './html.ts';

export function sample(caption: string, code: Html): Html {
  return html`<figure>
    <figcaption><span>${caption}</span></figcaption>
    <pre><code data-copy="Copy">${code}</code></pre>
  </figure>`;
}

/** `body` is `undefined` without one. */
export function answerSample(
  caption: string,
  status: number,
  headers: readonly (readonly [name: string, value: string])[],
  body: unknown,
): Html {
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\n');
  return sample(caption, body === undefined ? html`${head}` : html`${head}${'\n\n'}${coloured(body)}`);
}

const TOKEN = /("(?:\\.|[^"\\])*")(?=:)|("(?:\\.|[^"\\])*")|(-?\d[\d.eE+-]*|true|false|null)/g;

/** A value as indented JSON; a text as it is. */
function coloured(value: unknown): Html {
  if (typeof value === 'string') return html`${value}`;
  const text = JSON.stringify(value, null, 2);
  const parts: (Html | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, name, string] = match;
    parts.push(text.slice(end, match.index));
    if (name !== undefined) parts.push(html`<span class="n">${token}</span>`);
    else if (string !== undefined) parts.push(html`<span class="s">${token}</span>`);
    else parts.push(html`<span class="v">${token}</span>`);
    end = match.index + token.length;
  }
  return html`${[...parts, text.slice(end)]}`;
}

/** One line per option, ready to paste into a shell. */
export function curlSample(caption: string, method: string, url: string, options: readonly string[]): Html {
  const verb = method === 'GET' ? '' : `-X ${method} `;
  return sample(caption, html`${[`curl -sS ${verb}${url}`, ...options].join(' \\\n  ')}`);
}

/** In single quotes, for a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
