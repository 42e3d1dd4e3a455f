export { describeStore } from './describe-store.ts'
export { describeModel } from './store-model.ts'
export type {
  StoreCapabilities,
  StoreDatabase,
  StoreDatabaseOptions,
  StoreTarget,
} from './store-target.ts'
export { describeIsolation } from './isolation-suite.ts'
export type {
  IsolationActor,
  IsolationIds,
  IsolationProbe,
  IsolationWorld,
  MakeIsolationTarget,
} from './isolation-target.ts'
