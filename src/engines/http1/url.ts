// Parses a replica's URL as written by an operator, or explains what is wrong with it.

/** The replica's address without the common prefix of its protocol's calls, so that the prefix is never duplicated. */
export function replicaAddress(text: string, pathPrefix: string | undefined): URL {
  const url = readEngineUrl(text);
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (pathPrefix !== undefined && url.pathname.endsWith(pathPrefix)) url.pathname = url.pathname.slice(0, -pathPrefix.length);
  return url;
}

/** The URL for display: without a trailing slash, which most people omit. */
export function shownUrl(text: string): string {
  return text.replace(/\/+$/, '');
}

/** Throws one clear line, which omits the URL if it contains credentials. */
export function readEngineUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    throw new Error(`engine URL for ${url.host}: must not hold credentials; put them into a proxy in front of the engine`);
  }
  const right = url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.search === '' && url.hash === '';
  // A text with an @ may contain a password, even if it cannot be parsed as a URL, so it is not shown.
  const shown = text.includes('@') ? '' : ` "${text}"`;
  if (!right) throw new Error(`engine URL${shown}: must be http(s)://HOST[:PORT][/PATH], without query or fragment`);
  return url;
}
