// #region time
import { createManualSystem } from '@holdfast/testing'

const system = createManualSystem({ now: 0, seed: 1 })
export const fired: number[] = []
system.after(60_000, () => fired.push(system.now()))
await system.advance(59_999) // nothing yet
await system.advance(1) // now
// #endregion time
