// /docs: the API reference, generated from the same tables and schemas as /openapi.json.
import { html } from './html.ts';
import type { Html } from './html.ts';
import type { OpenApiOptions } from './openapi-document.ts';
import { reachable } from './openapi-writer.ts';
import { describedOperation, tags } from './operation.ts';
import type { Tag } from './operation.ts';
import { operations } from './operations.ts';
import { links, page } from './page.ts';
import type { SectionGroup } from './page.ts';
import { KEY, methodTag, operationEntry, pluginGroups, pluginSections } from './reference-operation.ts';
import { entrySection, sample } from './code-sample.ts';
import { table } from './schema-table.ts';

const TAGS = Object.keys(tags) as Tag[];

export function referencePage(options: OpenApiOptions): string {
  const serverUrl = reachable(options.serverUrl);
  return page({
    title: 'API reference',
    serviceName: options.serviceName,
    current: 'reference',
    groups: [START, ...TAGS.map((tag) => groupOf(tag)), ...pluginGroups(options.pluginApis)],
    main: html`<h1>API reference</h1>
      <p class="lede">Translate text between languages over HTTP with JSON bodies.</p>
      ${gettingStarted(serverUrl)} ${authentication(options)} ${answers()} ${TAGS.map((tag) => operationsOf(tag, serverUrl, options))}
      ${pluginSections(options.pluginApis, serverUrl)}`,
  });
}

/** Aligns labels with those that have a method in front. */
const NO_TAG = html`<span class="tag"></span>`;

const START: SectionGroup = {
  label: 'Start',
  sections: [
    { anchor: 'start', label: 'Getting started' },
    { anchor: 'authentication', label: 'Authentication' },
    { anchor: 'answers', label: 'Answers and failures' },
  ],
};

function groupOf(tag: Tag): SectionGroup {
  const sections = Object.entries(operations)
    .filter(([, operation]) => operation.tag === tag)
    .map(([name, operation]) => describedOperation(name, operation))
    .map(({ id, summary, method }) => ({ anchor: id, label: summary, tag: methodTag(method) }));
  return { label: tag, sections: tag === 'Languages' ? [...sections, { anchor: 'codes', label: 'Codes', tag: NO_TAG }] : sections };
}

function gettingStarted(serverUrl: string): Html {
  return entrySection({
    id: 'start',
    title: 'Getting started',
    level: 2,
    content: html`<p>
        You need a key from the operator of this service. Set it once in your shell; then you can paste every request on this page as it is.
      </p>
      <p>For client generators there is an <a href="${links.reference.openapi}">OpenAPI</a> 3.1 document.</p>`,
    samples: [sample('Base URL', html`${serverUrl}`), sample('Your key', html`export ${KEY}=la_test_…`)],
  });
}

function authentication({ vendorNames }: OpenApiOptions): Html {
  const forms = ['Authorization: Bearer <key>', ...vendorNames.flatMap((name) => [`Authorization: ${name} <key>`, `${name}: <key>`])];
  return entrySection({
    id: 'authentication',
    title: 'Authentication',
    level: 2,
    content: html`<p>
        Send your key with every request: <code>la_live_</code> or <code>la_test_</code>, followed by 40 letters or digits. All the forms
        shown are equivalent. If <code>Authorization</code> is sent, the other headers are ignored.
      </p>
      <p>
        Live and test keys behave alike and are charged alike; the word is only a label in usage reports. To rotate a key, create a second
        one, use it everywhere, and revoke the first when its last use no longer changes. A revoked key is refused at its next request.
      </p>`,
    samples: sample('Any of these', html`${forms.join('\n')}`),
  });
}

function answers(): Html {
  return entrySection({
    id: 'answers',
    title: 'Answers and failures',
    level: 2,
    content: html`<p>
        Every answer has an <code>X-Request-Id</code>; give it when you contact support. Every failure is a
        <a href="${links.reference.errors}">problem document</a> with a <code>code</code> whose meaning never changes. A failed request is
        never charged.
      </p>
      <p>Paths are case-sensitive and do not end with a slash. Unknown members of a body are refused, not ignored.</p>`,
    samples: table(
      html`<th scope="col">Status</th>
        <th scope="col">Try again?</th>`,
      RETRIES.map(
        ([status, retry]) =>
          html`<tr>
            <td>${status}</td>
            <td>${retry}</td>
          </tr>`,
      ),
    ),
  });
}

const RETRIES = [
  ['429, 503', html`<span class="yes">Yes.</span> After <code>Retry-After</code> seconds, then with growing pauses.`],
  ['500', html`<span class="once">Once.</span> Then contact support.`],
  ['other 4xx', html`<span class="no">No.</span> Unchanged, it would fail again.`],
] as const;

function operationsOf(tag: Tag, serverUrl: string, options: OpenApiOptions): Html {
  const entries = Object.entries(operations).filter(([, operation]) => operation.tag === tag);
  return html`<h2>${tag}</h2>
    <p class="soft">${tags[tag]}</p>
    ${entries.map(([name, operation]) => operationEntry(name, operation, serverUrl))} ${tag === 'Languages' ? codes(options) : undefined}`;
}

function codes({ sourceLanguages, targetLanguages }: OpenApiOptions): Html {
  return html`<section id="codes" class="entry" aria-labelledby="codes-title">
    <div>
      <h3 id="codes-title"><a href="#codes">Codes</a></h3>
      <p>
        In upper or lower case; answers have them as shown here. <code>GET /v1/languages?type=target</code> says which targets support
        formality.
      </p>
      <h4>${sourceLanguages.length} sources</h4>
      ${chips(sourceLanguages)}
    </div>
    <div>
      <h4>${targetLanguages.length} targets</h4>
      ${chips(targetLanguages)}
    </div>
  </section>`;
}

function chips(list: readonly string[]): Html {
  return html`<ul class="chips">
    ${list.map((code) => html`<li><code>${code}</code></li>`)}
  </ul>`;
}
