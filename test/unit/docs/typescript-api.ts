// Loaded ahead of openapi-typescript: it writes its types with TypeScript's JavaScript interface, which TypeScript 7 no longer has.
import { registerHooks } from 'node:module';

// The package bundles the last TypeScript that has it. Installing that one beside ours would put its tsc in the way of ours.
const bundle = import.meta.resolve('@ts-morph/common');
const source = `import common from ${JSON.stringify(bundle)}; export default common.ts;`;
const url = `data:text/javascript,${encodeURIComponent(source)}`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'typescript' ? { url, format: 'module', shortCircuit: true } : next(specifier, context),
});
