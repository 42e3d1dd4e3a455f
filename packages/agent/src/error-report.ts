import type { Callbacks } from './callbacks.ts'

/** Runs a body, and tells `onError` of what it throws, once. */
export async function reportingErrors<Value>(
  call: { readonly callbacks: Callbacks },
  body: () => Promise<Value>,
): Promise<Value> {
  try {
    return await body()
  } catch (error) {
    await reportError(call.callbacks, error)
    throw error
  }
}

const reported = new WeakSet<Callbacks>()

/** Tells `onError`, unless a call's callbacks were told of an error before: a call fails once. */
export async function reportError(callbacks: Callbacks, error: unknown): Promise<void> {
  if (reported.has(callbacks)) return
  reported.add(callbacks)
  await callbacks.notify('onError', { error })
}
