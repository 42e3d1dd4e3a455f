// Room in the write-ahead log, made before it is needed (docs/decisions/0028).
//
// Owns:  nothing but what lies behind the last frame of the log.
// Asks:  SQLite for the write lock, so that nobody appends or cuts meanwhile.
// Never: touches a frame, takes the last of a disk, or tells of a failure: a log without room only
//        costs more.
import { closeSync, fstatSync, openSync, statfsSync, writeSync } from 'node:fs'
import type { SqlConnection } from './driver.ts'
import { rollBack } from './transaction.ts'

/** The log's length that SQLite begins anew at, in pages; a little more is written ahead. */
export const checkpointPages = 2_000

/** How long the log is made in all, and at a time. Bytes. */
const roomBytes = (checkpointPages + 64) * (4096 + 24)
const stepBytes = 1024 * 1024

/** How much has to be free on the disk, for a step to be taken. Bytes. */
const freeBytes = 32 * roomBytes

const zeros = new Uint8Array(stepBytes)

/**
 * Lengthens the log by one step. Answers whether another may follow.
 *
 * A sync of a file that has grown writes the file system's own journal too, and takes about twice as
 * long as one that only writes over what is there. Frames of zeros are none to SQLite, which stops
 * reading at the first frame whose checksum is wrong, as it does at an older log's.
 */
export function growLog(connection: SqlConnection, path: string): boolean {
  try {
    connection.exec('begin immediate')
  } catch {
    return true
  }
  try {
    return lengthen(`${path}-wal`)
  } catch {
    return false
  } finally {
    rollBack(connection)
  }
}

function lengthen(path: string): boolean {
  const file = openSync(path, 'r+')
  try {
    const { size } = fstatSync(file)
    if (size >= roomBytes) return false
    const { bavail, bsize } = statfsSync(path)
    if (bavail * bsize < freeBytes) return false
    writeSync(file, zeros, 0, Math.min(stepBytes, roomBytes - size), size)
    return size + stepBytes < roomBytes
  } finally {
    closeSync(file)
  }
}
