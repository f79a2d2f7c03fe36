// The frame of every OpenAPI 3.1 document: of the service, a plugin or the admin API.

/** A part of a document, as a value that can be written as JSON. */
export type OpenApiNode = Readonly<Record<string, unknown>>;

export type PlacedOperation = readonly [method: string, path: string, operation: OpenApiNode];

/** What a document says. */
interface ApiDescription {
  readonly title: string;
  readonly version: string;
  /** One sentence. */
  readonly summary?: string;
  readonly description: string;
  /** What is at `docsUrl` followed by `/errors`. */
  readonly errors: string;
  readonly docsUrl: string;
  readonly serverUrl: string;
  /** Descriptions by name. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly operations: readonly PlacedOperation[];
  /** The security schemes are the ways to send a key, any of which will do. */
  readonly components: OpenApiNode & { readonly securitySchemes: OpenApiNode };
}

export function openApi(api: ApiDescription): OpenApiNode {
  const { title, version, summary, description, errors, docsUrl, serverUrl, tags = {}, operations, components } = api;
  const listed = Object.entries(tags).map(([name, words]) => ({ name, description: words }));
  const paths: Record<string, Record<string, OpenApiNode>> = {};
  for (const [method, path, operation] of operations) (paths[path] ??= {})[method.toLowerCase()] = operation;
  return {
    openapi: '3.1.0',
    info: { title, version, summary, description, license: { name: 'MIT', identifier: 'MIT' } },
    externalDocs: { description: errors, url: `${docsUrl}/errors` },
    servers: [{ url: reachable(serverUrl), description: 'This service.' }],
    tags: listed.length === 0 ? undefined : listed,
    security: Object.keys(components.securitySchemes).map((scheme) => ({ [scheme]: [] })),
    paths,
    components,
  };
}

/** For one that can be listened on but not called, such as 0.0.0.0, this machine's. */
function reachable(url: string): string {
  return url.replace('://0.0.0.0:', '://127.0.0.1:').replace('://[::]:', '://[::1]:');
}
