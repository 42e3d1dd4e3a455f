// The server's policy forbids code from text. Zod, which AI SDK checks with, would try it once and leave an error in the console.
;(globalThis as { __zod_globalConfig?: object }).__zod_globalConfig = { jitless: true }
export {}
