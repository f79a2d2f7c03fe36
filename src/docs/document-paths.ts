// The paths of the documentation, for code that needs only these and loads no page.

/** `documents` are the plugins with their own API document. */
export function documentPaths(documents: readonly string[]): string[] {
  return ['/openapi.json', ...documents.map(documentPath), '/docs', '/docs/errors'];
}

/** The path of a plugin's own API document. */
export function documentPath(plugin: string): string {
  return `/openapi/${encodeURIComponent(plugin)}.json`;
}
