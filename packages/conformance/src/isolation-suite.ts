import { describe, expect, onTestFinished, test } from 'vitest'
import type {
  IsolationActor,
  IsolationIds,
  IsolationWorld,
  MakeIsolationTarget,
} from './isolation-target.ts'

/**
 * Plays the owner, another session and nobody against every tool, route and stream: call it in a test
 * file.
 *
 * What is not the asker's must be answered exactly as what does not exist, must stay as it is, and no
 * word of it may be told. The owner is answered otherwise, else a probe reaches nothing and proves
 * nothing.
 */
export function describeIsolation(name: string, makeTarget: MakeIsolationTarget): void {
  const open = async (): Promise<IsolationWorld> => {
    const world = await makeTarget()
    onTestFinished(async () => world.close?.())
    return world
  }

  // oxlint-disable-next-line vitest/valid-title -- the name is the caller's
  describe(name, () => {
    test('C13. the owner is answered otherwise than for what does not exist', async () => {
      const { probes } = await open()
      expect(probes).not.toEqual([])
      for (const { name: probe } of probes) {
        // Each in a world of its own: what an owner asks for may happen.
        const world = await open()
        const found = probeNamed(world, probe)
        const own = await found.ask('owner', world.owned)
        if (found.kind === 'list') {
          const named = Object.values(world.owned).some((id) => own.includes(id))
          expect(named, `${probe} tells the owner of nothing: ${own}`).toBe(true)
        } else {
          const none = await found.ask('owner', world.missing)
          expect(asMissing(own, world), `${probe} reaches nothing`).not.toBe(none)
        }
      }
    })

    test.each(['stranger', 'nobody'] as const)(
      'C13. %s is answered as for what does not exist, and changes nothing',
      async (actor) => {
        const world = await open()
        const before = await world.state()
        for (const probe of world.probes) {
          const told = await probe.ask(actor, world.owned)
          const none = await probe.ask(actor, world.missing)
          const place = `${probe.name} for ${actor}`
          for (const secret of world.secrets) {
            expect(told, `${place} tells a secret`).not.toContain(secret)
          }
          if (probe.kind === 'list') expectNothingOf(world.owned, told, place)
          else expect(asMissing(told, world), place).toBe(none)
        }
        expect(await world.state()).toBe(before)
      },
    )

    test('C13. what the owner sees is the same after everybody else has asked', async () => {
      const [asked, left] = [await open(), await open()]
      const actors: readonly IsolationActor[] = ['stranger', 'nobody']
      for (const actor of actors) {
        for (const probe of asked.probes) await probe.ask(actor, asked.owned)
      }
      for (const [index, { name: probe, kind }] of asked.probes.entries()) {
        if (kind !== 'list') continue
        const seen = await asked.probes[index]?.ask('owner', asked.owned)
        const expected = await probeNamed(left, probe).ask('owner', left.owned)
        expect(namesOf(seen ?? '', asked.owned), probe).toEqual(namesOf(expected, left.owned))
      }
    })
  })
}

function probeNamed(world: IsolationWorld, name: string): IsolationWorld['probes'][number] {
  const probe = world.probes.find((candidate) => candidate.name === name)
  if (probe === undefined) throw new Error(`no probe ${name}`)
  return probe
}

/** An answer with the owner's ids replaced by those that nobody has: an asked id may be repeated. */
function asMissing(answer: string, { owned, missing }: IsolationWorld): string {
  return Object.entries(owned).reduce(
    (text, [name, id]) => text.replaceAll(id, missing[name] ?? id),
    answer,
  )
}

function expectNothingOf(owned: IsolationIds, told: string, place: string): void {
  for (const [name, id] of Object.entries(owned)) {
    expect(told, `${place} names the owner's ${name}`).not.toContain(id)
  }
}

/** Which of the owner's things an answer names. */
function namesOf(answer: string, owned: IsolationIds): readonly string[] {
  return Object.entries(owned)
    .filter(([, id]) => answer.includes(id))
    .map(([name]) => name)
    .toSorted()
}
