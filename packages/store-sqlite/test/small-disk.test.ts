import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

/** A file system that only the process sees which mounts it, and that goes when it does. */
const mount = 'mount -t tmpfs -o size=2m tmpfs "$0"'

const canMount =
  spawnSync('unshare', ['-rm', 'sh', '-c', mount, tmpdir()], { stdio: 'ignore' }).status === 0

interface Report {
  readonly acknowledged: readonly string[]
  readonly full: string
  readonly readWhileFull: readonly string[]
  readonly together: readonly string[]
  readonly freed: string
  readonly kept: readonly string[]
  readonly openedWhileFull: string
  readonly readOnly: readonly string[]
}

describe.skipIf(!canMount)('a disk of its own [needs unshare]', () => {
  it.each(['node', 'better-sqlite3'])(
    'is full: commits are refused and reads go on; freed: commits go on; read-only: it says so; with %s',
    async (driver) => {
      const directory = mkdtempSync(join(tmpdir(), 'holdfast-small-'))
      try {
        const { stdout } = await promisify(execFile)('unshare', [
          ...['-rm', 'sh', '-c', `${mount} && exec "$@"`, directory, process.execPath],
          ...['--conditions=@holdfast/source', '--experimental-strip-types', '--no-warnings'],
          ...[join(import.meta.dirname, 'small-disk-writer.ts'), directory, driver],
        ])
        const report = JSON.parse(stdout) as Report
        const before = report.acknowledged.filter((key) => key.startsWith('before'))
        const after = report.acknowledged.filter((key) => key.startsWith('after'))
        expect(before.length).toBeGreaterThan(10)
        expect(after.length).toBeGreaterThan(5)
        expect([report.full, report.freed]).toEqual(['store_full', 'store_full'])
        expect(report.readWhileFull).toEqual(before)
        expect(report.together).toEqual(Array.from({ length: 10 }, () => 'store_full'))
        expect(report.openedWhileFull).toBe('store_full')
        expect(report.kept).toEqual(report.acknowledged)
        expect(report.readOnly).toEqual(['store_read_only', 'store_read_only'])
      } finally {
        rmSync(directory, { recursive: true })
      }
    },
    30_000,
  )
})
