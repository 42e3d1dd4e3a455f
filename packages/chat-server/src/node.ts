export { toNodeListener } from './node/node-listener.ts'
export type { NodeListenerOptions, RequestHandler } from './node/node-listener.ts'
