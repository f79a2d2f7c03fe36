// What console and admin API answer while no operator has a token: 404, and what to configure.
import { html } from '../docs/html.ts';
import type { OpsAnswer, OpsApp, OpsRequest } from '../ops/ops-listener.ts';
import { assetPath, ASSETS } from './assets.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import { CONSOLE_SECURITY, page } from './layout.ts';

const SETTING = 'admin: { token: { env: LINGATE_ADMIN_TOKEN } }';
const WORDS =
  'are off, because the configuration has no token for operators: add the following, set the variable to a random text of at least 32 characters, and start the gateway again.';

/** For the ops listener. */
export function appsWhileOff(serviceName: () => string): readonly OpsApp[] {
  return [CONSOLE_PREFIX, '/admin/v1'].map((prefix) => {
    const answer = (request: OpsRequest): OpsAnswer => (prefix === CONSOLE_PREFIX ? consolePage(request, serviceName()) : plain());
    return { prefix, bodyBytesMax: 0, handle: (request) => Promise.resolve(answer(request)), tooLarge: answer };
  });
}

function consolePage({ path, headers }: OpsRequest, serviceName: string): OpsAnswer {
  if (path === CONSOLE_PREFIX + assetPath('console.css')) {
    return { status: 200, contentType: 'text/css; charset=utf-8', body: ASSETS['console.css'] };
  }
  if (!(headers.accept ?? '').includes('text/html')) return plain();
  const main = html`<h1>The console is off</h1>
    <p>Console and admin API ${WORDS}</p>
    <pre><code>${SETTING}</code></pre>
    <p class="soft">
      <code>openssl rand -hex 32</code> makes such a text. The demo, <code>lingate demo</code>, has a console with a token of its own.
    </p>`;
  const body = page({ title: 'The console is off', main }, { serviceName, visitor: undefined, notice: undefined });
  return { status: 404, contentType: 'text/html; charset=utf-8', body, security: CONSOLE_SECURITY };
}

function plain(): OpsAnswer {
  return { status: 404, contentType: 'text/plain; charset=utf-8', body: `Console and admin API ${WORDS}\n\n${SETTING}\n` };
}
