// Secrets to search for, in every form in which they might appear.

export interface Canary {
  readonly name: string;
  readonly value: string;
}

export interface Hit {
  readonly canary: string;
  readonly form: string;
  readonly place: string;
}

/** By the name of the form. Texts are compared as their UTF-8 bytes. */
export function formsOf(value: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(value);
  const escaped = JSON.stringify(value).slice(1, -1);
  const forms = new Map([
    ['plain', value],
    ['lower case', value.toLowerCase()],
    ['JSON', escaped],
    ['JSON, ASCII only', asciiOnly(escaped)],
    ['JSON in JSON', JSON.stringify(escaped).slice(1, -1)],
    ['percent', encodeURIComponent(value)],
    ['percent, all', [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')],
    ['HTML', value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')],
    ['hex', bytes.toString('hex')],
    ['HEX', bytes.toString('hex').toUpperCase()],
  ]);
  // The preceding bytes decide which of three base64 forms appears.
  for (const before of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes]);
    for (const encoding of ['base64', 'base64url'] as const) {
      const text = shifted.toString(encoding).replace(/=+$/, '');
      // Both ends may share a letter with their neighbours.
      forms.set(`${encoding} at ${before}`, text.slice(before === 0 ? 0 : before + 1, -1));
    }
  }
  return forms;
}

function asciiOnly(text: string): string {
  return text.replaceAll(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Every form of every canary that occurs in a place. */
export function hitsIn(place: string, content: string | Uint8Array, canaries: readonly Canary[]): Hit[] {
  // Byte for byte, so that no encoding can hide anything.
  const haystack = Buffer.from(content).toString('latin1');
  return canaries.flatMap(({ name, value }) =>
    [...formsOf(value)].flatMap(([form, text]) =>
      haystack.includes(Buffer.from(text).toString('latin1')) ? [{ canary: name, form, place }] : [],
    ),
  );
}
