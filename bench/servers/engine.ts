// The engine that all contestants call: native protocol, answers at once (or after --delay), each text prefixed with its target language.
import { numberArgument } from './arguments.ts';
import type { HttpResponse } from 'uWebSockets.js';
import { listen, uwsApp } from './listen.ts';
import { collectBody } from './collect-body.ts';

interface Work {
  readonly text: readonly string[];
  readonly target_lang: string;
}

const delayMs = numberArgument('delay');

const app = uwsApp();
app.post('/translate', (res, req) => {
  let gone = false;
  const id = req.getHeader('x-request-id');
  res.onAborted(() => {
    gone = true;
  });
  collectBody(res, (body) => {
    const answer = translate(JSON.parse(body) as Work);
    if (delayMs === 0) send(res, id, answer);
    else setTimeout(() => gone || res.cork(() => send(res, id, answer)), delayMs);
  });
});
listen(app, numberArgument('port'));

function translate({ text, target_lang: target }: Work): string {
  const translations = text.map((entry) => `{"detected_source_language":"EN","text":${JSON.stringify(`${target}: ${entry}`)}}`);
  return `{"translations":[${translations.join(',')}]}`;
}

function send(res: HttpResponse, id: string, body: string): void {
  // As the protocol asks: answers and requests are matched by it.
  if (id !== '') res.writeHeader('X-Request-Id', id);
  res.writeHeader('Content-Type', 'application/json').end(body);
}
