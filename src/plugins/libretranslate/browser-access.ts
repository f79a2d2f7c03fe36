// What browsers ask before a page or an extension of another origin may read an answer (CORS): anyone may, as at LibreTranslate.
import type { DocHeaders, GatewayServices, HeaderList, PluginRoute, Reply, Step } from 'lingate';

/** Any origin may read: a browser sends a key only if the page has it, unlike a cookie. */
const ON_EVERY_ANSWER: HeaderList = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', 'Retry-After, X-RateLimit-Limit, X-Request-Id'],
];
const METHODS = 'GET, POST';
/** A day; browsers cut it to what they like. */
const ASK_AGAIN_SECONDS = '86400';

export class BrowserAccess {
  readonly documented: DocHeaders = {
    'Access-Control-Allow-Origin': { description: 'Pages of any origin may read the answer.', example: '*' },
    'Access-Control-Expose-Headers': { description: 'The fields of it that they may read.', example: ON_EVERY_ANSWER[1]![1] },
  };

  /** The routes, and for each path one that answers a browser's preflight request. */
  admittedTo(routes: readonly PluginRoute[]): readonly PluginRoute[] {
    const admitted = routes.map((route) => ({ ...route, steps: behindTheLog(route.steps) }));
    return [...admitted, ...routes.map(preflight)];
  }

  steps(services: GatewayServices): readonly Step[] {
    const answer = preflightAnswer(services);
    return [
      {
        kind: 'head',
        name: 'libretranslate-any-origin',
        run(x) {
          x.responseHeaders = ON_EVERY_ANSWER;
          return undefined;
        },
      },
      { kind: 'head', name: 'libretranslate-preflight', run: () => answer },
    ];
  }
}

function behindTheLog(steps: readonly string[]): readonly string[] {
  return steps.flatMap((step) => (step === 'access-log' ? [step, 'libretranslate-any-origin'] : [step]));
}

function preflight({ path, problemForm }: PluginRoute): PluginRoute {
  return {
    method: 'OPTIONS',
    path,
    takesBody: false,
    steps: ['access-log', 'libretranslate-any-origin', 'libretranslate-preflight'],
    ...(problemForm === undefined ? {} : { problemForm }),
    doc: {
      summary: 'What browsers ask first',
      description: 'Answered to any origin: pages and extensions may send what this path takes.',
      authenticated: false,
      tag: 'Front ends',
      answer: {
        status: 204,
        description: 'They may.',
        headers: {
          'Access-Control-Allow-Methods': { description: 'What may be asked.', example: METHODS },
          'Access-Control-Allow-Headers': { description: 'The fields that may be sent.', example: 'authorization, content-type' },
          'Access-Control-Max-Age': { description: 'Seconds for which a browser may remember it.', example: ASK_AGAIN_SECONDS },
        },
      },
    },
  };
}

function preflightAnswer({ credentials }: GatewayServices): Reply {
  return {
    kind: 'reply',
    status: 204,
    contentType: undefined,
    body: '',
    headers: [
      ['Access-Control-Allow-Methods', METHODS],
      ['Access-Control-Allow-Headers', [...credentials.headers, 'content-type'].join(', ')],
      ['Access-Control-Max-Age', ASK_AGAIN_SECONDS],
    ],
  };
}
