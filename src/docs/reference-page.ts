// /docs: the API reference, generated from the same tables and schemas as /openapi.json.
import { html } from './html.ts';
import type { Html } from './html.ts';
import { reachable } from './openapi-document.ts';
import type { OpenApiOptions } from './openapi-document.ts';
import { splitName, tags } from './operation.ts';
import type { Tag } from './operation.ts';
import { operations } from './operations.ts';
import { links, page } from './page.ts';
import type { SectionGroup } from './page.ts';
import { pluginGroups, pluginSections } from './plugin-reference.ts';
import { KEY, methodTag, operationEntry } from './reference-operation.ts';
import { sample } from './code-sample.ts';

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
    .map(([name, { id, summary }]) => ({ anchor: id, label: summary, tag: methodTag(splitName(name)[0]) }));
  return { label: tag, sections: tag === 'Languages' ? [...sections, { anchor: 'codes', label: 'Codes', tag: NO_TAG }] : sections };
}

function gettingStarted(serverUrl: string): Html {
  return html`<section id="start" class="entry" aria-labelledby="start-title">
    <div>
      <h2 id="start-title"><a href="#start">Getting started</a></h2>
      <p>
        You need a key from the operator of this service. Set it once in your shell; then you can paste every request on this page as it is.
      </p>
      <p>For client generators there is an <a href="${links.reference.openapi}">OpenAPI</a> 3.1 document.</p>
    </div>
    <div class="samples">${sample('Base URL', html`${serverUrl}`)} ${sample('Your key', html`export ${KEY}=la_test_…`)}</div>
  </section>`;
}

function authentication({ vendorNames }: OpenApiOptions): Html {
  const forms = ['Authorization: Bearer <key>', ...vendorNames.flatMap((name) => [`Authorization: ${name} <key>`, `${name}: <key>`])];
  return html`<section id="authentication" class="entry" aria-labelledby="authentication-title">
    <div>
      <h2 id="authentication-title"><a href="#authentication">Authentication</a></h2>
      <p>
        Send your key with every request: <code>la_live_</code> or <code>la_test_</code>, followed by 40 letters or digits. All the forms
        shown are equivalent. If <code>Authorization</code> is sent, the other headers are ignored.
      </p>
      <p>
        Live and test keys behave alike and are charged alike; the word is only a label in usage reports. To rotate a key, create a second
        one, use it everywhere, and revoke the first when its last use no longer changes. A revoked key is refused at its next request.
      </p>
    </div>
    <div class="samples">${sample('Any of these', html`${forms.join('\n')}`)}</div>
  </section>`;
}

function answers(): Html {
  return html`<section id="answers" class="entry" aria-labelledby="answers-title">
    <div>
      <h2 id="answers-title"><a href="#answers">Answers and failures</a></h2>
      <p>
        Every answer has an <code>X-Request-Id</code>; give it when you contact support. Every failure is a
        <a href="${links.reference.errors}">problem document</a> with a <code>code</code> whose meaning never changes. A failed request is
        never charged.
      </p>
      <p>Paths are case-sensitive and do not end with a slash. Unknown members of a body are refused, not ignored.</p>
    </div>
    <div class="samples">
      <table>
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Try again?</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>429, 503</td>
            <td><span class="yes">Yes.</span> After <code>Retry-After</code> seconds, then with growing pauses.</td>
          </tr>
          <tr>
            <td>500</td>
            <td><span class="once">Once.</span> Then contact support.</td>
          </tr>
          <tr>
            <td>other 4xx</td>
            <td><span class="no">No.</span> Unchanged, it would fail again.</td>
          </tr>
        </tbody>
      </table>
    </div>
  </section>`;
}

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
