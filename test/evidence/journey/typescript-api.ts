// Loaded before openapi-typescript, which needs TypeScript's JavaScript API; TypeScript 7 no longer has one.
import { registerHooks } from 'node:module';

// The package bundles the last TypeScript with that API. Installed beside ours, its tsc would hide our own.
const bundle = import.meta.resolve('@ts-morph/common');
const source = `import common from ${JSON.stringify(bundle)}; export default common.ts;`;
const url = `data:text/javascript,${encodeURIComponent(source)}`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'typescript' ? { url, format: 'module', shortCircuit: true } : next(specifier, context),
});
