// The engine that all contestants call: native protocol, answers at once, each text prefixed with its target language.
import type { HttpResponse } from 'uWebSockets.js';
import { collectBody, listen, uwsApp } from './common.ts';

interface Work {
  readonly text: readonly string[];
  readonly target_lang: string;
}

const app = uwsApp();
app.post('/translate', (res, req) => {
  const id = req.getHeader('x-request-id');
  res.onAborted(() => undefined);
  collectBody(res, (body) => {
    send(res, id, translate(JSON.parse(body) as Work));
  });
});
listen(app);

function translate({ text, target_lang: target }: Work): string {
  const translations = text.map((entry) => `{"detected_source_language":"EN","text":${JSON.stringify(`${target}: ${entry}`)}}`);
  return `{"translations":[${translations.join(',')}]}`;
}

function send(res: HttpResponse, id: string, body: string): void {
  // As the protocol asks: answers and requests are matched by it.
  if (id !== '') res.writeHeader('X-Request-Id', id);
  res.writeHeader('Content-Type', 'application/json').end(body);
}
