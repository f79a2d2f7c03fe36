// Imports a module of the packages beside it, by the condition `import`, which nobody has from another folder.
/** @param {string} name */
export const load = (name) => import(name);
