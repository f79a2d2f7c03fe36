// /docs: the API reference for people, drawn from the same document that /openapi.json answers.
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import { anchorOf, problems } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import { AUTHENTICATED_PROBLEMS, COMMON_PROBLEMS, operations } from './operations.ts';
import type { Operation } from './operations.ts';
import { page } from './page.ts';

export interface ReferenceOptions {
  readonly serviceName: string;
  readonly serverUrl: string;
  readonly vendorNames: readonly string[];
}

/** The parts of a JSON Schema that a table shows. */
interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly enum?: readonly unknown[];
  readonly maxItems?: number;
  readonly patternProperties?: unknown;
}

export function referencePage(options: ReferenceOptions): string {
  const entries = Object.entries(operations);
  return page({
    title: 'API reference',
    serviceName: options.serviceName,
    current: 'reference',
    sections: [{ anchor: 'authentication', label: 'Authentication' }, ...entries.map(([name, { id }]) => ({ anchor: id, label: name }))],
    main: html`<h1>API reference</h1>
      <p>Translate text between languages over HTTP with JSON bodies. Base URL: <code>${options.serverUrl}</code></p>
      ${authentication(options)} ${entries.map(([name, operation]) => section(name, operation, options.serverUrl))}`,
  });
}

function authentication({ vendorNames }: ReferenceOptions): Html {
  const forms = ['Authorization: Bearer <key>', ...vendorNames.flatMap((name) => [`Authorization: ${name} <key>`, `${name}: <key>`])];
  return html`<section id="authentication">
    <h2>Authentication</h2>
    <p>
      One static key per request: <code>la_live_</code> or <code>la_test_</code> and 40 letters or digits. These forms are equivalent; when
      <code>Authorization</code> is sent, it alone counts.
    </p>
    <ul>
      ${forms.map((form) => html`<li><code>${form}</code></li>`)}
    </ul>
    <p>
      Every answer carries <code>X-Request-Id</code>. Failures are <a href="/docs/errors">problem documents</a>; a failed request is never
      charged.
    </p>
  </section>`;
}

function section(name: string, operation: Operation, serverUrl: string): Html {
  const [method = '', path = ''] = name.split(' ');
  const { answer, body, query } = operation;
  return html`<section id="${operation.id}">
    <h2><span class="method">${method}</span><code>${path}</code></h2>
    <p><strong>${operation.summary}.</strong> ${prose(operation.description)}</p>
    ${operation.authenticated ? undefined : html`<p class="soft">Needs no key.</p>`}
    ${
      query === undefined
        ? undefined
        : html`<h3>Query</h3>
            ${table(query.map(({ name: parameter, description, schema }) => row(parameter, schema as Shape, false, description)))}`
    }
    ${
      body === undefined
        ? undefined
        : html`<h3>Body</h3>
            ${members(body.schema)}`
    }
    <h3>Try it</h3>
    <pre><code>${curl(method, path, operation, serverUrl)}</code></pre>
    <h3>${answer.status}</h3>
    <p>${answer.description}</p>
    ${answer.schema === undefined ? undefined : members(answer.schema)}
    ${answer.example === undefined ? undefined : html`<pre><code>${JSON.stringify(answer.example, null, 2)}</code></pre>`}
    <h3>Problems</h3>
    <p>${problemLinks(operation)}</p>
  </section>`;
}

function members(schema: Shape): Html | undefined {
  const rows = rowsOf(schema, '');
  return rows.length === 0 ? undefined : table(rows);
}

/** One row per member, those of nested objects by their path. */
function rowsOf(schema: Shape, path: string): Html[] {
  if (schema.type === 'array' && schema.items !== undefined) return rowsOf(schema.items, `${path}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return [row(at, member, schema.required?.includes(name) ?? false, member.description ?? ''), ...rowsOf(member, at)];
  });
}

function row(name: string, schema: Shape, required: boolean, description: string): Html {
  const about = description === '' ? (DESCRIPTIONS[name] ?? '') : description;
  return html`<tr>
    <td><code>${name}</code>${required ? undefined : html`<br /><span class="soft">optional</span>`}</td>
    <td>${typeOf(schema)}</td>
    <td>${prose(about)}</td>
  </tr>`;
}

function table(rows: readonly Html[]): Html {
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function typeOf(schema: Shape): string {
  if (schema.enum !== undefined) return schema.enum.join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map((option) => typeOf(option)).join(' | ');
  if (schema.type === 'array' && schema.items !== undefined)
    return `array of ${typeOf(schema.items)}${schema.maxItems === undefined ? '' : `, at most ${schema.maxItems}`}`;
  return schema.type ?? 'any';
}

function problemLinks(operation: Operation): Html[] {
  const codes: readonly ProblemCode[] = [
    ...operation.problems,
    ...(operation.authenticated ? AUTHENTICATED_PROBLEMS : []),
    ...COMMON_PROBLEMS,
  ];
  return [...new Set(codes)].map(
    (code) => html`<a href="/docs/errors#${anchorOf(code)}"><code>${code}</code></a> <span class="soft">${problems[code].status}</span> `,
  );
}

function curl(method: string, path: string, operation: Operation, serverUrl: string): string {
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${serverUrl}${path.replace('{id}', '01K9ZQ4T1V8E5S0H6N3B7W2XJD')}`];
  if (operation.authenticated) lines.push(`-H 'Authorization: Bearer <key>'`);
  if (operation.body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(operation.body.example)}'`);
  return lines.join(' \\\n  ');
}

/** Of the members of request bodies: their schemas stand on the hot path and carry no prose. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  text: '1 to 50 texts, none of them empty. The plan limits their characters in total.',
  target_lang: 'A target code, in either case.',
  source_lang: 'A source code, in either case. Required with a glossary; otherwise the engine finds out.',
  formality: '`more` and `less` are refused where the target does not support them; the `prefer_` forms fall back silently.',
  context: 'Helps the engine, is not translated and not charged. At most 2,000 characters.',
  glossary_id: 'A glossary of the same pair of languages.',
  name: 'At most 200 characters.',
  entries: 'Terms and their translations: at least one, none empty, at most 5,000.',
};
