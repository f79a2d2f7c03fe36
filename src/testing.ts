// For plugin authors' tests: the contracts that our own protocols and stores fulfil, and an engine
// that misbehaves on command.
export { MovableClock } from './testing/movable-clock.ts';
export { accountsContract } from './testing/accounts-contract.ts';
export type { OpenEmptyStore } from './testing/accounts-contract.ts';
export { storeContract } from './testing/store-contract.ts';
export type { OpenStore, StoreContract } from './testing/store-contract.ts';
export type { ContractCase } from './testing/cases.ts';
export { scriptedFile, scriptedFiles } from './testing/scripted-files.ts';
export type { ScriptedFilesOptions } from './testing/scripted-files.ts';
export { answer, CANARY, scriptedTranslation, slow, startScriptedEngine, status } from './testing/scripted-engine.ts';
export { protocolContract } from './testing/protocol-contract.ts';
export type { ProtocolContract, ProtocolSubject } from './testing/protocol-contract.ts';
export type {
  Behaviour,
  NamedBehaviour,
  RightAnswer,
  ScriptedEngine,
  ScriptedEngineOptions,
  ScriptedRequest,
} from './testing/scripted-engine.ts';
