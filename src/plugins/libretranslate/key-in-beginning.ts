// Finds the key in the beginning of a long body, without parsing the rest: as JSON, as a form, or in parts.
import { isFormType, isMultipartType, readFormBody, readMultipartBody } from 'lingate';
import type { FormBody } from 'lingate';

/** A key behind these bytes is not found. */
export const KEY_WITHIN_BYTES = 65_536;

const NAME = 'api_key';
/** Strings, marks, and what stands between them. A string that does not end is no token. */
const TOKEN = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\],:]|[^"{}[\],:]+/y;

/** The value as the body has it, of whatever type; `undefined` where there is none in the beginning. */
export function keyInBeginning(headers: Readonly<Record<string, string>>, body: Uint8Array): unknown {
  const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, KEY_WITHIN_BYTES));
  const isWhole = body.length <= KEY_WITHIN_BYTES;
  if (isFormType(headers)) return only(readFormBody(headers, isWhole ? bytes : upToLast(bytes, '&'), KEY_WITHIN_BYTES));
  if (!isMultipartType(headers)) return memberIn(bytes.toString('utf8'));
  return only(readMultipartBody(headers, isWhole ? bytes : wholeParts(bytes), KEY_WITHIN_BYTES));
}

/** A field that comes more than once is no key: which one is meant cannot be known. */
function only(form: FormBody): unknown {
  if (form.kind === 'refused') return undefined;
  const values = form.fields.filter(([name]) => name === NAME).map(([, value]) => value);
  return values.length > 1 ? values : values[0];
}

function upToLast(bytes: Buffer, mark: string): Buffer {
  return bytes.subarray(0, Math.max(0, bytes.lastIndexOf(mark)));
}

/** The parts that are complete, closed as a whole body would be. The first line is the boundary. */
function wholeParts(bytes: Buffer): Buffer {
  const opening = bytes.subarray(0, Math.max(0, bytes.indexOf('\r\n')));
  const delimiter = `\r\n${opening.toString('latin1')}`;
  const end = bytes.lastIndexOf(delimiter, undefined, 'latin1');
  return end <= 0 ? Buffer.alloc(0) : Buffer.concat([bytes.subarray(0, end), Buffer.from(`${delimiter}--`, 'latin1')]);
}

/** Of the outermost object; the last one counts, as for `JSON.parse`. */
function memberIn(text: string): unknown {
  let found: unknown = undefined;
  let depth = 0;
  let last = '';
  let name: string | undefined = undefined;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text)?.[0]; token !== undefined; token = TOKEN.exec(text)?.[0]) {
    if (token === '{' || token === '[') depth++;
    else if (depth === 1 && token === ':') name = valueOf(last) as string;
    else if (depth === 1 && (token === ',' || token === '}')) {
      if (name === NAME) found = valueOf(last);
      name = undefined;
    }
    if (token === '}' || token === ']') depth--;
    if (token.trim() !== '') last = token;
  }
  return found;
}

/** Of a token; of what is no value of its own, such as the end of a list, the token itself, which is no key. */
function valueOf(token: string): unknown {
  try {
    return JSON.parse(token);
  } catch {
    return token;
  }
}
