// The entry of the thread that writes.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { GroupWriter } from './group-writer.ts'
import { driverNamed } from './named-driver.ts'
import { storageError } from './storage-error.ts'
import { WriteLoop } from './write-loop.ts'
import { sendableError } from './writer-message.ts'
import type { WriterInput, WriterOutput, WriterSettings } from './writer-message.ts'

const port = parentPort
if (port === null) throw new Error('This file is started as a worker.')
const settings = workerData as WriterSettings
const send = (output: WriterOutput): void => port.postMessage(JSON.stringify(output))

try {
  const writer = new GroupWriter(driverNamed(settings.driver), settings)
  const loop = new WriteLoop(
    writer,
    settings.path,
    (output) => {
      send(output)
      if (output.kind === 'closed') port.close()
    },
    () => (receiveMessageOnPort(port)?.message as WriterInput | undefined) ?? undefined,
  )
  port.on('message', (input: WriterInput) => loop.receive(input))
  send({ kind: 'opened', node: writer.node })
} catch (error) {
  send({ kind: 'failed-to-open', error: sendableError(storageError(error, settings.path)) })
  port.close()
}
