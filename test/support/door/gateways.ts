// What starts a gateway, a command or a part of one in the process of a test.
export { startApp } from '../../../src/app/app.ts';
export { openConfiguredStore } from '../../../src/app/configured-store.ts';
export { copyStoreTo } from '../../../src/app/store-upkeep.ts';
export { run } from '../../../src/cli/run.ts';
export { ConfigError } from '../../../src/config/config-error.ts';
export { loadConfig } from '../../../src/config/load.ts';
export { createDocumentFormats } from '../../../src/documents/create-document-formats.ts';
export { ALL_FORMATS, firstLook, formatOf } from '../../../src/documents/formats.ts';
export { buildFile, extractTexts } from '../../../src/documents/read-and-build.ts';
export { DocumentSealer } from '../../../src/documents/work/document-secrets.ts';
export { DocumentWorker } from '../../../src/documents/work/document-worker.ts';
export { freePortOf } from '../../../src/server/listener.ts';
