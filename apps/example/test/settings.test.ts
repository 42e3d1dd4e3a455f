import { describe, expect, test } from 'vitest'
import { modelFromEnvironment } from '../server/model-from-environment.ts'
import { besideDatabase, settingsFrom } from '../server/settings.ts'

describe('the settings', () => {
  test('have their defaults, also for variables that are empty', () => {
    const defaults = {
      host: '127.0.0.1',
      port: 3_000,
      databasePath: '.holdfast/holdfast.db',
      secret: undefined,
      reportPauseMs: 1_500,
    }
    expect(settingsFrom({})).toStrictEqual(defaults)
    const empty = { HOST: '', PORT: '', HOLDFAST_DB: '', HOLDFAST_SECRET: '' }
    expect(settingsFrom(empty)).toStrictEqual(defaults)
  })

  test.each(['abc', '-1', '65536', '80.5', ' ', '1e3', '0x50', '80 ', '9'.repeat(30)])(
    'refuse PORT=%s',
    (port) => {
      expect(() => settingsFrom({ PORT: port })).toThrow(
        expect.objectContaining({
          code: 'configuration_invalid',
          message: 'PORT must be a whole number from 0 to 65535.',
        }),
      )
    },
  )

  test.each([
    ['OPENAI_BASE_URL', 'localhost:11434'],
    ['OPENAI_BASE_URL', 'file:///etc/passwd'],
    ['HOLDFAST_DEMO_DELAY_MS', 'slow'],
  ])('of the model refuse %s=%s', (name, value) => {
    expect(() => modelFromEnvironment({ [name]: value })).toThrow(
      expect.objectContaining({ code: 'configuration_invalid' }),
    )
  })

  test('name files of the application’s own beside the database', () => {
    expect(besideDatabase('/data/desk.db', 'orders.db')).toBe('/data/desk.orders.db')
    expect(besideDatabase('/data/desk', 'session.key')).toBe('/data/desk.session.key')
  })
})
