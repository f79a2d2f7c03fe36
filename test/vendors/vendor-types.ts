// Reads the names in vendors' own descriptions: members of TypeScript interfaces, fields and methods of protocol buffers.

/** Between the braces that follow `head`; `undefined` if there is no such declaration. */
function blockAfter(source: string, head: RegExp): string | undefined {
  const found = head.exec(source);
  if (found === null) return undefined;
  const start = found.index + found[0].length;
  let depth = 1;
  for (let at = start; at < source.length; at++) {
    if (source[at] === '{') depth++;
    else if (source[at] === '}' && --depth === 0) return source.slice(start, at);
  }
  return undefined;
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

/** What is not inside of further braces or brackets. */
function outermost(block: string): string {
  let text = block;
  for (let before = ''; before !== text;) {
    before = text;
    text = text.replaceAll(/\{[^{}]*\}/g, '').replaceAll(/\[[^[\]]*\]/g, '');
  }
  return text;
}

/** The members of an interface in a declaration file, without those that it inherits; `undefined` if the file has no such interface. */
export function interfaceMembers(source: string, name: string): readonly string[] | undefined {
  const block = blockAfter(withoutComments(source), new RegExp(String.raw`\binterface ${name}\b[^{]*\{`));
  return block === undefined
    ? undefined
    : Array.from(outermost(block).matchAll(/^\s*(?:readonly )?"?([\w$-]+)"?\??:/gm), ([, one]) => one!);
}

/** The fields of a message, in the spelling of JSON; `undefined` if the file has no such message. */
export function messageFields(source: string, name: string): readonly string[] | undefined {
  const block = blockAfter(withoutComments(source), new RegExp(String.raw`\bmessage ${name}\s*\{`));
  if (block === undefined) return undefined;
  const fields = block.matchAll(/^\s*(?:repeated |optional )?(?:map<[^>]*>|[\w.]+)\s+(\w+)\s*=\s*\d+/gm);
  return Array.from(fields, ([, one]) => one!.replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase()));
}

/** The methods of all services of a file. */
export function methodsOf(source: string): readonly string[] {
  return Array.from(withoutComments(source).matchAll(/^\s*rpc (\w+)\s*\(/gm), ([, one]) => one!);
}

/** The paths of a client's overloads. */
export function pathsOf(source: string): readonly string[] {
  return Array.from(source.matchAll(/\(path: "([^"]+)"\)/g), ([, one]) => one!);
}
