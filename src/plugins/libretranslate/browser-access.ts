// CORS: lets web pages and extensions of any origin read the answers, as at LibreTranslate.
import type { ApiDocument, DocHeaders, GatewayServices, HeaderList, HeadStep, PluginRoute, Reply, Step } from 'lingate';

/** Any origin may read: unlike a cookie, a key is only sent by a page that has it. */
const ON_EVERY_ANSWER: HeaderList = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', 'Retry-After, X-RateLimit-Limit, X-Request-Id'],
];
const METHODS = 'GET, POST';
/** A day; browsers reduce it as they like. */
const ASK_AGAIN_SECONDS = '86400';

const DOCUMENTED: DocHeaders = {
  'Access-Control-Allow-Origin': { description: 'Pages of any origin may read the answer.', example: '*' },
  'Access-Control-Expose-Headers': { description: 'The headers that they may read.', example: ON_EVERY_ANSWER[1]![1] },
};

interface Api {
  readonly routes: readonly PluginRoute[];
  readonly routeSteps: (services: GatewayServices) => readonly Step[];
  readonly document: ApiDocument;
}

/** With that, and with an answer to a browser's preflight for each served path. */
export function readableByBrowsers({ routes, routeSteps, document }: Api): Api {
  const served = routes.filter(({ undocumented }) => undocumented !== true);
  return {
    routes: [...routes.map((route) => ({ ...route, steps: behindTheLog(route.steps) })), ...served.map(preflight)],
    routeSteps(services) {
      const answer = preflightAnswer(services);
      const anyOrigin: HeadStep['run'] = (x) => void (x.responseHeaders = ON_EVERY_ANSWER);
      return [
        ...routeSteps(services),
        { kind: 'head', name: 'libretranslate-any-origin', run: anyOrigin },
        { kind: 'head', name: 'libretranslate-preflight', run: () => answer },
      ];
    },
    document: { ...document, headers: DOCUMENTED },
  };
}

function behindTheLog(steps: readonly string[]): readonly string[] {
  return steps.flatMap((step) => (step === 'access-log' ? [step, 'libretranslate-any-origin'] : [step]));
}

function preflight({ path, problemForm, ofDocuments }: PluginRoute): PluginRoute {
  return {
    method: 'OPTIONS',
    path,
    takesBody: false,
    steps: ['access-log', 'libretranslate-any-origin', 'libretranslate-preflight'],
    problemForm,
    ofDocuments,
    doc: {
      summary: 'Preflight request of browsers',
      description: 'Allows every origin to send what this path accepts.',
      authenticated: false,
      tag: 'Front ends',
      answer: {
        status: 204,
        description: 'They may.',
        headers: {
          'Access-Control-Allow-Methods': { description: 'The allowed methods.', example: METHODS },
          'Access-Control-Allow-Headers': { description: 'The allowed headers.', example: 'authorization, content-type' },
          'Access-Control-Max-Age': { description: 'For how many seconds a browser may cache this.', example: ASK_AGAIN_SECONDS },
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
