// The server's policy forbids code from text. Zod, which AI SDK checks with, would try it once and
// leave an error in the console.
Reflect.set(globalThis, '__zod_globalConfig', { jitless: true })
