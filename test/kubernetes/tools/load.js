// Imports or requires a module of the packages beside it, by the conditions of their exports, which nobody in another folder can.
import { createRequire } from 'node:module';

/** @param {string} name */
export const load = (name) => import(name);

/** For packages whose modules for `import` do not load. */
export const required = createRequire(import.meta.url);
