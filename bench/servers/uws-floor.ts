// The floor: bare uWebSockets.js that parses the JSON and returns a constant. No proxy can be cheaper in this process.
import { collectBody, listen, uwsApp } from './common.ts';

const ANSWER = '{"translations":[{"detected_source_language":"EN","text":"DE: The house by the sea is for sale."}]}';

const app = uwsApp();
app.post('/v1/translate', (res) => {
  res.onAborted(() => undefined);
  collectBody(res, (body) => {
    JSON.parse(body);
    res.writeHeader('Content-Type', 'application/json').end(ANSWER);
  });
});
listen(app);
