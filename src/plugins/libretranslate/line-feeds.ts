// Line breaks of forms: browsers send each as CR LF, whatever the text has.
import { isFormType, isMultipartType } from 'lingate';
import type { Members } from '../facades/members.ts';

const RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** The text of a form with line feeds alone, as LibreTranslate reads it: nobody is charged for what a browser adds. */
export function withLineFeeds(headers: Readonly<Record<string, string>>, members: Members): Members {
  if (!isFormType(headers) && !isMultipartType(headers)) return members;
  return new Map([...members].map(([name, value]) => [name, lineFeeds(value)]));
}

function lineFeeds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lineFeeds);
  return typeof value === 'string' && value.includes('\r\n') ? withoutReturns(value) : value;
}

/** In bytes: half a million pieces of a string would keep the event loop for tens of milliseconds. What a form holds is well-formed. */
function withoutReturns(text: string): string {
  const bytes = Buffer.from(text);
  let kept = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== RETURN || bytes[at + 1] !== LINE_FEED) bytes[kept++] = bytes[at]!;
  }
  return bytes.toString('utf8', 0, kept);
}
