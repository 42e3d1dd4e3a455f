import { existsSync } from 'node:fs'
import packed from '@sparticuz/chromium'
import { chromium } from 'playwright-core'
import type { BrowserServer } from 'playwright-core'

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** A way to start Chromium, and what is wrong with it when it does not start. */
interface Candidate {
  readonly name: string
  readonly find: () => Promise<{ readonly executablePath: string; readonly args: string[] }>
}

/** A Chromium that runs, or why there is none. */
export type ChromiumStart =
  | { readonly ok: true; readonly server: BrowserServer }
  | { readonly ok: false; readonly reasons: readonly string[] }

/** Starts `CHROMIUM_PATH` and nothing else if it is set; else one of the system, else the packed one. */
export async function startChromium(): Promise<ChromiumStart> {
  const reasons: string[] = []
  for (const { name, find } of candidates()) {
    try {
      const { executablePath, args } = await find()
      return { ok: true, server: await chromium.launchServer({ executablePath, args }) }
    } catch (error) {
      reasons.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { ok: false, reasons }
}

function candidates(): readonly Candidate[] {
  const chosen = process.env['CHROMIUM_PATH'] ?? ''
  if (chosen !== '') return [onDisk(chosen)]
  return [
    ...installed.filter((path) => existsSync(path)).map((path) => onDisk(path)),
    {
      name: '@sparticuz/chromium',
      find: async () => ({
        executablePath: await packed.executablePath(),
        // Which kind of headless is playwright's business.
        args: [...packed.args.filter((arg) => !arg.startsWith('--headless')), '--no-sandbox'],
      }),
    },
  ]
}

function onDisk(executablePath: string): Candidate {
  return {
    name: executablePath,
    find: async () => ({ executablePath, args: ['--no-sandbox'] }),
  }
}
