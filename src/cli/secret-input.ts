// Reads a secret from standard input: all of a pipe or file, or a terminal's line, without echo.
import { constants } from 'node:os';
import type { ReadStream } from 'node:tty';

/** Much more than a key has, but reading stops here if someone pipes in a large file by mistake. */
const CHARACTERS_MAX = 4096;
const CONTROL_C = '\u0003';
const CONTROL_D = '\u0004';
const ENDS = ['\r', '\n', CONTROL_D];
const BACKSPACES = ['\u007f', '\b'];

/** Trimmed. `write` goes to standard error: standard output is for results. */
export async function readSecret(
  input: Pick<ReadStream, 'isTTY' | 'setRawMode' | 'destroy'> & AsyncIterable<unknown>,
  write: (text: string) => void,
  prompt: string,
  interrupt: () => void = () => process.exit(128 + constants.signals.SIGINT),
): Promise<string> {
  if (!input.isTTY) return (await gathered(input)).trim();
  // No echo; before the prompt, so that not even a fast paste is shown.
  input.setRawMode(true);
  try {
    write(prompt);
    return (await typed(input, interrupt)).trim();
  } finally {
    input.setRawMode(false);
    write('\n');
    // While a terminal is being read, the process does not exit.
    input.destroy();
  }
}

async function gathered(input: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.length > CHARACTERS_MAX) break;
  }
  return text;
}

async function typed(input: AsyncIterable<unknown>, interrupt: () => void): Promise<string> {
  let line = '';
  for await (const chunk of input) {
    for (const character of String(chunk)) {
      if (ENDS.includes(character) || line.length > CHARACTERS_MAX) return line;
      if (character === CONTROL_C) {
        interrupt();
        return '';
      }
      line = BACKSPACES.includes(character) ? line.slice(0, -1) : line + character;
    }
  }
  return line;
}
