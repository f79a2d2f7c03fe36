// Line breaks of forms: browsers send each as CR LF, whatever the text has.
import { isFormType, isMultipartType } from 'lingate';
import type { Members } from '../facades/members.ts';

/** The text of a form with line feeds alone, as LibreTranslate reads it: nobody is charged for what a browser adds. */
export function withLineFeeds(headers: Readonly<Record<string, string>>, members: Members): Members {
  if (!isFormType(headers) && !isMultipartType(headers)) return members;
  return new Map([...members].map(([name, value]) => [name, lineFeeds(value)]));
}

function lineFeeds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lineFeeds);
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value;
}
