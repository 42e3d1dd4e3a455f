// Once for all browser tests: the page is built, and one Chromium runs.
import type { TestProject } from 'vitest/node'
import { startChromium } from './chromium.ts'
import { buildPage } from './page-build.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the one Chromium listens, or why there is none. */
    readonly browser:
      | { readonly ok: true; readonly endpoint: string }
      | { readonly ok: false; readonly reasons: readonly string[] }
  }
}

/** Called by vitest before the first file. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = await startChromium()
  if (!started.ok) {
    project.provide('browser', started)
    return async () => {}
  }
  await buildPage()
  project.provide('browser', { ok: true, endpoint: started.server.wsEndpoint() })
  return async () => {
    await started.server.close()
  }
}
