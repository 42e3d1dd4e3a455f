// One server for the whole suite, made before it and removed after it, whatever happens in between.
import type { TestProject } from 'vitest/node'
import { startServer } from './start-server.ts'

/** Starts the server. What it answers removes it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    const server = await startServer()
    project.provide('postgresUrl', server.url)
    return () => server.remove()
  } catch (error) {
    console.error('No PostgreSQL server could be started:', error)
    project.provide('postgresUrl', undefined)
    return () => Promise.resolve()
  }
}
