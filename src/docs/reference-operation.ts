// One route on the reference page: purpose, input, answers, a request to paste, and the codes that it can answer.
import { anchorOf } from '../core/problem.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import { GLOSSARY_ID, idParameter, problemsOf, splitName } from './operation.ts';
import type { Operation } from './operation.ts';
import { links } from './page.ts';
import { headerExamples } from './problem-examples.ts';
import { answerSample, curlSample, quoted } from './code-sample.ts';
import { rowOf, rowsOf, schemaTable } from './schema-table.ts';
import type { Row } from './schema-table.ts';

/** The shell variable with the key in the samples. */
export const KEY = 'API_KEY';

const BODY_LINE_MAX = 60;

export function operationEntry(name: string, operation: Operation, serverUrl: string): Html {
  const [method, path] = splitName(name);
  const { id, summary, description, authenticated } = operation;
  return html`<section id="${id}" class="entry" aria-labelledby="${id}-title">
    <div>
      <h3 id="${id}-title"><a href="#${id}">${summary}</a></h3>
      <p>${methodTag(method)} <code>${path}</code></p>
      <p>${prose(description)}</p>
      ${authenticated ? undefined : html`<p class="soft">Needs no key.</p>`} ${parameters(path, operation)} ${answer(operation)}
      ${failures(operation)}
    </div>
    <div class="samples">${requests(method, path, operation, serverUrl)} ${answers(operation)}</div>
  </section>`;
}

export function methodTag(method: string): Html {
  return html`<span class="tag ${method.toLowerCase()}">${method}</span>`;
}

function parameters(path: string, { id, query, body }: Operation): Html {
  const inPath: Row[] = path.includes('{id}') ? [{ ...idParameter, type: 'string', required: true }] : [];
  const inQuery = (query ?? []).map(({ name, schema, description }) => rowOf(name, schema, description));
  return html`${titled('In the path', id, inPath)} ${titled('In the query', id, inQuery)}
  ${titled('In the body', id, body === undefined ? [] : rowsOf(body.schema))}`;
}

function titled(title: string, id: string, rows: readonly Row[]): Html | undefined {
  if (rows.length === 0) return undefined;
  return html`<h4>${title}</h4>
    ${schemaTable(`${id}: ${title}`, 'request', rows)}`;
}

function answer({ id, answer: { status, description, schema } }: Operation): Html {
  const rows = schema === undefined ? [] : rowsOf(schema);
  return html`<h4>Answers ${status}</h4>
    <p>${description}</p>
    ${rows.length === 0 ? undefined : schemaTable(`${id}: the answer`, 'answer', rows)}`;
}

function failures(operation: Operation): Html {
  const to = links.reference.errors;
  return html`<h4>Can fail with</h4>
    <dl class="codes">
      ${[...problemsOf(operation)].map(
        ([status, codes]) =>
          html`<dt class="soft">${status}</dt>
            <dd>${codes.map((code) => html`<a href="${to}#${anchorOf(code)}"><code>${code}</code></a> `)}</dd>`,
      )}
    </dl>`;
}

/** A sample request for each example of the body; a single one for a route without a body. */
function requests(method: string, path: string, { authenticated, query, body }: Operation, serverUrl: string): Html[] {
  const search = (query ?? []).map(({ name, example }) => `${name}=${example}`).join('&');
  const address = `${serverUrl}${path.replace('{id}', GLOSSARY_ID)}`;
  const url = search === '' ? address : quoted(`${address}?${search}`);
  const key = authenticated ? [`-H "Authorization: Bearer $${KEY}"`] : [];
  if (body === undefined) return [curlSample('Request', method, url, key)];
  const media = `-H 'Content-Type: application/json'`;
  return Object.values(body.examples).map(({ summary, value }) =>
    curlSample(`Request: ${summary}`, method, url, [...key, media, `-d ${quoted(bodyText(value))}`]),
  );
}

/** JSON on one line if it is short, otherwise indented. */
function bodyText(value: unknown): string {
  const line = JSON.stringify(value);
  return line.length > BODY_LINE_MAX ? JSON.stringify(value, null, 2).replaceAll('\n', '\n  ') : line;
}

function answers({ answer: { status, headers = [], schema, examples } }: Operation): Html[] {
  const values = headerExamples('');
  const media = schema === undefined ? [] : [['Content-Type', 'application/json'] as const];
  const fields = [...media, ...headers.map((name) => [name, values[name] ?? ''] as const)];
  if (examples === undefined) return [answerSample('Answer', { status, headers: fields, body: undefined })];
  return Object.values(examples).map(({ summary, value }) => answerSample(`Answer: ${summary}`, { status, headers: fields, body: value }));
}
