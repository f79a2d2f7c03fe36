// Where the documentation is: for whoever needs the paths alone, and loads no page for them.

/** `documents` are the plugins that have an API document of their own. */
export function documentPaths(documents: readonly string[]): string[] {
  return ['/openapi.json', ...documents.map(documentPath), '/docs', '/docs/errors'];
}

/** Where a plugin's own API document is. */
export function documentPath(plugin: string): string {
  return `/openapi/${encodeURIComponent(plugin)}.json`;
}
