// Reads a replica's URL as an operator wrote it, or says what would be right.

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
