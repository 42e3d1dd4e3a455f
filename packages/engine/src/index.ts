export { createEngine } from './engine.ts'
export type { Engine, EngineOptions } from './engine.ts'
export type { EngineLimits } from './options.ts'
export type { EngineSession, RunHandle } from './session.ts'
