// #region suite
import { describeStore } from '@holdfast/conformance'
import type { StoreDatabase, StoreDatabaseOptions } from '@holdfast/conformance'

/** Call it in a test file of vitest: every rule of the store port, for a store of your own. */
export function describeMyStore(
  create: (options?: StoreDatabaseOptions) => Promise<StoreDatabase>,
): void {
  describeStore('my store', { capabilities: { durable: true, owners: 'many' }, create })
}
// #endregion suite
