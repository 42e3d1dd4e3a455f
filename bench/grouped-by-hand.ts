// What a store is held against: grouped commits as one would write them by hand, on a thread of
// their own, with the same durability and the same precondition (a run's next revision), and nothing
// else: no sessions, fences, receipts, ids, watches, or reads while it writes.
import { DatabaseSync } from 'node:sqlite'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

type Step = readonly [run: number, revision: number, data: string]

/** Appends steps in groups: what comes while one group is written goes into the next. */
export interface GroupedByHand {
  append(run: number, revision: number, data: string): Promise<void>
  close(): Promise<void>
}

/** Starts it on a file. */
export function groupedByHand(path: string): GroupedByHand {
  const worker = new Worker(new URL(import.meta.url), { workerData: path })
  let waiting: { readonly step: Step; readonly settle: (done: boolean) => void }[] = []
  let writing: typeof waiting = []
  let due = false
  const send = (): void => {
    due = false
    if (writing.length > 0 || waiting.length === 0) return
    writing = waiting
    waiting = []
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(writing.map(({ step }) => step))
  }
  const sendSoon = (): void => {
    if (due || writing.length > 0) return
    due = true
    setImmediate(send)
  }
  worker.on('message', (outcomes: readonly boolean[]) => {
    const written = writing
    writing = []
    for (const [index, { settle }] of written.entries()) settle(outcomes[index] === true)
    sendSoon()
  })
  return {
    append: (run, revision, data) =>
      new Promise((resolve, reject) => {
        const settle = (done: boolean): void =>
          done ? resolve() : reject(new Error('The revision is not the next one.'))
        waiting.push({ step: [run, revision, data], settle })
        sendSoon()
      }),
    close: async () => void (await worker.terminate()),
  }
}

function serve(path: string): void {
  const database = new DatabaseSync(path)
  database.exec(`pragma journal_mode = wal; pragma synchronous = full;
    create table step (key integer primary key, run integer, revision integer, data text);
    create unique index step_revision on step (run, revision)`)
  const begin = database.prepare('begin immediate')
  const commit = database.prepare('commit')
  const newest = database.prepare('select max(revision) as newest from step where run = ?')
  const insert = database.prepare('insert into step (run, revision, data) values (?, ?, ?)')
  parentPort?.on('message', (steps: readonly Step[]) => {
    begin.run()
    const outcomes = steps.map(([run, revision, data]) => {
      if (Number(newest.get(run)?.['newest'] ?? -1) + 1 !== revision) return false
      insert.run(run, revision, data)
      return true
    })
    commit.run()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(outcomes)
  })
}

if (!isMainThread && typeof workerData === 'string') serve(workerData)
