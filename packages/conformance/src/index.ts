export { describeStore } from './describe-store.ts'
export { describeModel } from './store-model.ts'
export type {
  StoreCapabilities,
  StoreDatabase,
  StoreDatabaseOptions,
  StoreTarget,
} from './store-target.ts'
