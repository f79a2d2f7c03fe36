// Reads a replica's URL as an operator wrote it, or says what would be right.

/** The replica's address, without the path that all calls of its protocol begin with, so that it never stands there twice. */
export function replicaAddress(text: string, pathPrefix: string | undefined): URL {
  const url = readEngineUrl(text);
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (pathPrefix !== undefined && url.pathname.endsWith(pathPrefix)) url.pathname = url.pathname.slice(0, -pathPrefix.length);
  return url;
}

/** The URL as it is shown: without the slash at its end that most people leave out. */
export function shownUrl(text: string): string {
  return text.replace(/\/+$/, '');
}

/** Throws one clear line, without the URL itself when it holds credentials. */
export function readEngineUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    throw new Error(`engine URL for ${url.host}: must not hold credentials; put them into a proxy in front of the engine`);
  }
  const right = url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.search === '' && url.hash === '';
  // A text with an @ may hold a password, even when it cannot be parsed as a URL: it is not shown.
  const shown = text.includes('@') ? '' : ` "${text}"`;
  if (!right) throw new Error(`engine URL${shown}: must be http(s)://HOST[:PORT][/PATH], without query or fragment`);
  return url;
}
