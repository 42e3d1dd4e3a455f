export { forEachFault, forEachSeed, replayFaults } from './fault-trials.ts'
export type { FaultScenario, FaultTally, FaultTrial } from './fault-trials.ts'
export type {
  CallFaultKind,
  Fault,
  FaultKind,
  FaultMeans,
  FaultPlan,
  FaultRule,
  RandomFaults,
  StoreCall,
} from './faults.ts'
export { faultyStore } from './faulty-store.ts'
export type { FaultyStore } from './faulty-store.ts'
export { createManualSystem } from './manual-system.ts'
export type { ManualSystem, ManualSystemOptions } from './manual-system.ts'
export { createMortalSystem } from './mortal-system.ts'
export type { MortalSystem } from './mortal-system.ts'
export { createRecordingLog } from './recording-log.ts'
export type { RecordingLog } from './recording-log.ts'
export { createSeededRandom } from './seeded-random.ts'
