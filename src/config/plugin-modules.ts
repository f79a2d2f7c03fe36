// Imports the modules of plugins, wherever they lie, and sees to it that they share the gateway's own copies of `lingate` and `typebox`.
import { readFileSync } from 'node:fs';
import { findPackageJSON, registerHooks, stripTypeScriptTypes } from 'node:module';
import type { LoadFnOutput, ResolveFnOutput, ResolveHookContext } from 'node:module';
import { extname, isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** With a copy of its own a plugin would reserve slots that no exchange has. */
const OWN = /^(?:lingate|typebox)(?:\/|$)/;
const SHIPPED = /^lingate\/plugins\/([\w-]+)$/;
/** What is imported by a path, from the importing file or its package. */
const BY_PATH = /^(?:\.{0,2}\/|file:|#)/;
/** The condition in package.json's `exports` under which the sources are; they exist only in a checkout. */
const SOURCES = 'lingate-sources';

type NextResolve = (specifier: string, context?: ResolveHookContext) => ResolveFnOutput;

/** URLs of the files of plugins: their modules, and what those import by a path. */
const files = new Set<string>();
/** URL of the file from which the package that is being located is resolved. */
let lookingFrom: string | undefined;
let hooked = false;

/**
 * Rejects as `import` does. `module` is an absolute path, or the name of a package, which is resolved as if `from`, an
 * absolute path, imported it; `lingate/plugins/…` are the gateway's own.
 */
export async function importPluginModule(module: string, from: string): Promise<{ readonly default?: unknown }> {
  if (!hooked) registerHooks({ resolve: resolvePluginImport, load: loadPluginFile });
  hooked = true;
  const url = isAbsolute(module) ? pathToFileURL(module).href : (shipped(module) ?? locate(module, from));
  files.add(url);
  return (await import(url)) as { readonly default?: unknown };
}

/** The file of a plugin that comes with the gateway, found beside this one and not through `node_modules`. */
function shipped(name: string): string | undefined {
  const found = SHIPPED.exec(name);
  return found === null ? undefined : new URL(`../plugins/${found[1]!}${extname(import.meta.url)}`, import.meta.url).href;
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

/** For what this file itself resolves: plugins from the file that names them, our own copies from here. */
function ourContext(specifier: string, context: ResolveHookContext): ResolveHookContext {
  if (!OWN.test(specifier)) return lookingFrom === undefined ? context : { ...context, parentURL: lookingFrom };
  return import.meta.url.endsWith('.ts') ? { ...context, conditions: [...context.conditions, SOURCES] } : context;
}

/** Node strips no types below `node_modules`; the files of plugins are to work there as well. */
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
