// The protocol's own conformance suite against the server, by a process of its own over real HTTP.
//
// It asks for a test server with fixed tools, resources and prompts. Those that are about what ours
// does are given here as tools of the host's; the others are named below with the reason.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { InvokableTool, JsonObject } from '@holdfast/core'
import { createMcpHandler } from '../src/mcp.ts'
import { serve } from './support/http-server.ts'
import { createSession } from './support/session.ts'

/** Scenarios that do not apply, with the reason. One that passes after all fails the test. */
const notApplicable: Readonly<Record<string, string>> = {
  'logging-set-level': 'no logging: what happens is in the history of runs',
  'completion-complete': 'no prompts or resources whose arguments could be completed',
  'tools-call-simple-text':
    'asks for a fixed sentence as text; our tools answer with one JSON document',
  'tools-call-image': 'results are JSON documents, never images',
  'tools-call-audio': 'results are JSON documents, never sound',
  'tools-call-embedded-resource': 'results are JSON documents, never resources',
  'tools-call-mixed-content': 'a result is exactly one text block',
  'tools-call-with-logging': 'no logging',
  'tools-call-with-progress': 'a run tells its progress itself; a call is short',
  'tools-call-sampling': 'the server asks its client nothing',
  'tools-call-elicitation': 'a person answers in the host’s page, never through a model’s client',
  'elicitation-sep1034-defaults': 'no elicitation, as above',
  'elicitation-sep1330-enums': 'no elicitation, as above',
  'server-sse-polling': 'answers are JSON, so there is no stream to come back to',
  'server-sse-multiple-streams':
    'asks for an MCP session id; ours has none, as each request is authenticated by itself',
  'resources-list': 'no resources',
  'resources-read-text': 'no resources',
  'resources-read-binary': 'no resources',
  'resources-templates-read': 'no resources',
  'resources-subscribe': 'no resources',
  'resources-unsubscribe': 'no resources',
  'prompts-list': 'no prompts',
  'prompts-get-simple': 'no prompts',
  'prompts-get-with-args': 'no prompts',
  'prompts-get-embedded-resource': 'no prompts',
  'prompts-get-with-image': 'no prompts',
}

/** What has to pass. */
const applicable = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-error',
  'json-schema-2020-12',
  'dns-rebinding-protection',
]

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** A tool that the suite asks for, made like ours. */
function suiteTool(name: string, inputSchema: JsonObject, text?: string): InvokableTool {
  return {
    info: () => ({ name, description: 'Asked for by the suite.', inputSchema, annotations }),
    async invoke() {
      if (text !== undefined) return { content: [{ type: 'text', text }] }
      throw new HoldfastError(ErrorCode.notPermitted, { message: 'This tool always fails.' })
    },
  }
}

const empty = { type: 'object', additionalProperties: false }
const suiteTools = [
  suiteTool('test_error_handling', empty),
  suiteTool(
    'json_schema_2020_12_tool',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    '{}',
  ),
]

test('the scenarios that apply pass, and no other does', { timeout: 120_000 }, async () => {
  const { sessionId, tools } = createSession({ extensions: true })
  const hosts: string[] = []
  const handler = createMcpHandler({
    authorize: () => ({ sessionId, tools: [...tools, ...suiteTools] }),
    allowedHosts: hosts,
    allowedOrigins: hosts,
  })
  const server = await serve((request) => handler.handle(request))
  hosts.push(server.url.host, server.url.origin)
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-'))
  try {
    const baseline = join(folder, 'baseline.json')
    writeFileSync(baseline, JSON.stringify({ server: Object.keys(notApplicable) }))
    const manifest = createRequire(import.meta.url).resolve(
      '@modelcontextprotocol/conformance/package.json',
    )
    const { code, output } = await run(
      [
        join(dirname(manifest), 'dist/index.js'),
        'server',
        ...['--url', server.url.href, '--suite', 'all', '--expected-failures', baseline],
      ],
      folder,
    )
    const ran = [...output.matchAll(/^[✓✗] ([\w-]+): /gm)].map(([, name]) => name)
    expect(new Set(ran)).toEqual(new Set([...applicable, ...Object.keys(notApplicable)]))
    for (const scenario of applicable) expect(output).toContain(`✓ ${scenario}:`)
    expect(code, output).toBe(0)
  } finally {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

function run(
  given: readonly string[],
  cwd: string,
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      given,
      { cwd, maxBuffer: 64 * 1_024 * 1_024 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
      },
    )
  })
}
