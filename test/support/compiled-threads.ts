// Threads that the product starts within a test's process run its compiled files, as the processes do that tests start.
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vitest/config';

const STARTS = fileURLToPath(new URL('../../src/documents/create-document-formats.ts', import.meta.url));
const COMPILED = new URL('../../dist/documents/document-thread.js', import.meta.url).href;
const FROM_SOURCE = 'new URL(`./document-thread${extname(import.meta.url)}`, import.meta.url)';

/** Each file of a document has a thread of its own, which would load a compiler for its types first: that takes longer than the file. */
export function compiledThreads(): Plugin {
  return {
    name: 'compiled-threads',
    enforce: 'pre',
    transform(code, id) {
      if (id !== STARTS) return undefined;
      if (!code.includes(FROM_SOURCE)) throw new Error(`${STARTS} no longer starts its thread by ${FROM_SOURCE}`);
      return code.replace(FROM_SOURCE, `new URL('${COMPILED}')`);
    },
  };
}
