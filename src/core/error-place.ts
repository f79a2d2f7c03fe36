// What of a bug may be logged: its class, its kind and its place; never a word of a caller's.
import { fileURLToPath } from 'node:url';

/** The folder of the sources, or of what was built from them; files are shown relative to it. */
const HERE = fileURLToPath(new URL('..', import.meta.url));
const FRAMES_MAX = 3;

/**
 * Messages about code. All others are left out: like that of `JSON.parse`, they may quote what a
 * caller sent. What is in quotes may be a member's name that a caller chose.
 */
const ABOUT_CODE =
  /^(?:Cannot (?:read|set) properties of (?:undefined|null)|Cannot destructure property|Assignment to constant variable|[\w.#() ]{1,80} is not (?:a function|iterable|defined|a constructor)$)/;

/** `TypeError: Cannot read properties of undefined at run (steps/read.ts:40:12)`. */
export function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const name = /^\w{1,80}$/.test(error.name) ? error.name : 'Error';
  // Whatever threw it may have changed how stacks are made.
  const stack: unknown = error.stack;
  const frames = typeof stack === 'string' ? framesOf(stack.slice(`${error.name}: ${error.message}`.length)) : [];
  return `${name}${kindOf(error)}${frames.length === 0 ? '' : ` at ${frames.join(', ')}`}`;
}

function kindOf({ message }: Error): string {
  if (typeof message !== 'string' || !ABOUT_CODE.test(message)) return '';
  const plain = message.replace(/ \(reading .*$| \(setting .*$|'.*$/s, '').trim();
  return `: ${plain}`;
}

/** The first few, without those of Node and of libraries. */
function framesOf(stack: string): readonly string[] {
  return stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at ') && !line.includes('node:') && (line.includes(HERE) || !/[\\/]node_modules[\\/]/.test(line)))
    .slice(0, FRAMES_MAX)
    .map((line) => line.slice('at '.length).replace('file://', '').replace(HERE, ''));
}
