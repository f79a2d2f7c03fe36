// Imports the modules of plugins: what they import of the gateway is its own, and TypeScript works below `node_modules` as well.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON, registerHooks, stripTypeScriptTypes } from 'node:module';
import type { LoadFnOutput, ResolveFnOutput, ResolveHookContext } from 'node:module';
import { basename, extname, isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** With its own copy of these, a plugin would reserve slots that requests do not have. */
const OWN = /^(?:lingate|typebox)(?:\/|$)/;
const SHIPPED = /^lingate\/plugins\/([\w-]+)$/;
/** Imports by a path, from the importing file or its package. */
const BY_PATH = /^(?:\.{0,2}\/|file:|#)/;
/** The condition in package.json's `exports` for the sources, which exist only in a checkout. */
const SOURCES = 'lingate-sources';

type NextResolve = (specifier: string, context?: ResolveHookContext) => ResolveFnOutput;

/** URLs of the plugins' own files: their modules, and what those import by a path. */
const files = new Set<string>();
/** URL of the file from which a package is currently being resolved. */
let lookingFrom: string | undefined;
let hooked = false;

/**
 * Rejects as `import` does. `module` is an absolute path, or the name of a package, which is resolved as if imported by `from`, an
 * absolute path; `lingate/plugins/…` are the gateway's own.
 */
export async function importPluginModule(module: string, from: string): Promise<{ readonly default?: unknown }> {
  if (!hooked) registerHooks({ resolve: resolvePluginImport, load: loadPluginFile });
  hooked = true;
  const url = isAbsolute(module) ? pathToFileURL(module).href : (shipped(module) ?? locate(module, from));
  files.add(url);
  return (await import(url)) as { readonly default?: unknown };
}

/** The file of a plugin that comes with the gateway, found beside this file and not through `node_modules`. */
function shipped(name: string): string | undefined {
  const found = SHIPPED.exec(name);
  return found === null ? undefined : new URL(`../plugins/${found[1]!}${extname(import.meta.url)}`, import.meta.url).href;
}

/** Whether the name is that of a plugin that comes with the gateway, whether it exists or not. Those provide no engines or stores. */
export function isShipped(name: string): boolean {
  return SHIPPED.test(name);
}

/** The names of our plugins, without `lingate/plugins/`, if `name` is like theirs but none of them; `undefined` for any other. */
export function shippedInstead(name: string): readonly string[] | undefined {
  const url = shipped(name);
  if (url === undefined || existsSync(fileURLToPath(url))) return undefined;
  const extension = extname(url);
  const beside = readdirSync(fileURLToPath(new URL('.', url))).filter((file) => extname(file) === extension);
  return beside.map((file) => basename(file, extension)).toSorted();
}

function locate(name: string, from: string): string {
  lookingFrom = pathToFileURL(from).href;
  try {
    return import.meta.resolve(name);
  } finally {
    lookingFrom = undefined;
  }
}

function resolvePluginImport(specifier: string, context: ResolveHookContext, next: NextResolve): ResolveFnOutput {
  if (context.parentURL === import.meta.url) return next(specifier, ourContext(specifier, context));
  if (context.parentURL === undefined || !files.has(context.parentURL)) return next(specifier, context);
  // By our own import, not by `next` with another `parentURL`: `require` in a CommonJS plugin ignores that.
  if (OWN.test(specifier)) return { url: import.meta.resolve(specifier), shortCircuit: true };
  const found = next(specifier, context);
  if (BY_PATH.test(specifier)) files.add(found.url);
  return found;
}

/** Resolves for this file itself: plugins from the file that names them, our own copies from here. */
function ourContext(specifier: string, context: ResolveHookContext): ResolveHookContext {
  if (!OWN.test(specifier)) return lookingFrom === undefined ? context : { ...context, parentURL: lookingFrom };
  return import.meta.url.endsWith('.ts') ? { ...context, conditions: [...context.conditions, SOURCES] } : context;
}

/** Node does not strip types below `node_modules`, but plugins must work there as well. */
function loadPluginFile(url: string, context: unknown, next: (url: string, context?: never) => LoadFnOutput): LoadFnOutput {
  if (!files.has(url) || !/\/node_modules\/.*\.[cm]?ts$/.test(url)) return next(url, context as never);
  const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
  return { format: isCommonJs(url) ? 'commonjs' : 'module', source, shortCircuit: true };
}

function isCommonJs(url: string): boolean {
  if (/\.[cm]ts$/.test(url)) return url.endsWith('.cts');
  const manifest = findPackageJSON(url);
  return manifest !== undefined && (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly type?: unknown }).type === 'commonjs';
}
