// /docs: the API reference for people, drawn from the same tables and schemas as /openapi.json.
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

/** Keeps labels below each other where some have a method in front. */
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
        You need a key, which you are given, and something that speaks HTTP. Put the key into your shell once; every request on this page
        can then be pasted as it is.
      </p>
      <p>A machine-readable description for client generators is at <a href="${links.reference.openapi}">OpenAPI</a> (3.1).</p>
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
        One static key per request: <code>la_live_</code> or <code>la_test_</code>, and 40 letters or digits. The forms beside are
        equivalent. When <code>Authorization</code> is sent it alone counts.
      </p>
      <p>
        Live and test keys behave and are charged alike; the word is a label in usage reports. To change a key, create a second one, use it
        everywhere, and revoke the first when its last use stands still. A revoked key is refused from the next request on.
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
        Every answer carries <code>X-Request-Id</code>; name it when you ask for help. Every failure is a
        <a href="${links.reference.errors}">problem document</a> whose <code>code</code> never changes its meaning. A failed request is
        never charged.
      </p>
      <p>Paths are case-sensitive and take no slash at the end. Members of a body that nobody knows are refused, not ignored.</p>
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
            <td><span class="once">Once.</span> Then ask for help.</td>
          </tr>
          <tr>
            <td>other 4xx</td>
            <td><span class="no">No.</span> Unchanged it would fail again.</td>
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
      <p>In upper or lower case; answers write them as here. Which targets support formality, the list tells.</p>
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
