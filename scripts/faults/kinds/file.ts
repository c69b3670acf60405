/**
 * A model's file is replaced while the server serves it, in place or by another of its name, and
 * later put back.
 *
 * Expected: the server notices it, and soon answers by the new file, without a restart; the process
 * of the old one ends.
 *
 * @module
 */

import { copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultModelPath } from '../../../src/models/default-model.js'
import { runnersOf } from '../../bench/proc.js'
import { ensureModel } from '../../make-model/ensure.js'
import { holdsWithin } from '../../wait.js'
import { authorization, path } from '../clients.js'
import { exchange } from '../exchange.js'
import type { Kind } from '../kind.js'
import type { Usage } from '../tally.js'

const name = 'replaced'
const workspace = 'files'
/** To notice, and to load it, under load. */
const mostMs = 60_000
const stableMs = 1500
const question = {
  state: 'A river under a bridge.',
  questions: { q: { type: 'choice', criteria: { water: '', stone: '', paper: '' } } },
}

export const file: Kind = {
  says: "replaces a model's file while it is served",
  prepare: async (world) => {
    const { tally, random, port, folder } = world
    const served = join(folder, 'served.gguf')
    const files = [defaultModelPath, await ensureModel('fixture-small')]
    copyFileSync(files[0]!, served)
    world.addModel(name, served)
    /** File -> the answer by it. */
    const answers = new Map<number, string>()
    let key: string
    let present = 0

    /** @returns Undefined unless it is answered with 200. */
    const ask = async (): Promise<string | undefined> => {
      const body = JSON.stringify({ ...question, model: name })
      const reply = await exchange({ port, path, headers: authorization(key), body })
      if (reply.end !== 'answered') tally.of(workspace).unknown++
      if (reply.end !== 'answered' || reply.status !== 200) return undefined
      const { answers, usage } = JSON.parse(reply.body) as { answers: unknown; usage: Usage }
      tally.of(workspace).add(usage)
      return JSON.stringify(answers)
    }
    /** Whether the server answers by the present file, and goes on so. */
    const isRight = async () => {
      const answer = await ask()
      const isOther = [...answers].every(
        ([file, other]) => (other === answer) === (file === present),
      )
      if (answer === undefined || !isOther) return false
      await sleep(stableMs)
      if ((await ask()) !== answer) return false
      answers.set(present, answer)
      return true
    }
    const replace = async () => {
      const runners = runnersOf(world.server.pid!).length
      present = 1 - present
      if (random.next() < 0.5) copyFileSync(files[present]!, served)
      else {
        copyFileSync(files[present]!, `${served}.new`)
        renameSync(`${served}.new`, served)
      }
      const until = async (isSo: () => Promise<boolean> | boolean, otherwise: string) => {
        if (await holdsWithin(mostMs, isSo, 200)) return
        const log = world.server.log.slice(-4000)
        tally.violate(`a replaced model file: ${otherwise} within a minute\n${log}`)
      }
      await until(isRight, 'no answers by the new one')
      await until(
        () => runnersOf(world.server.pid!).length <= runners,
        'the process of the old one has not ended',
      )
    }
    return {
      clients: async () => {
        key = world.workspace(workspace).key
        const first = await ask()
        if (first !== undefined) answers.set(present, first)
        return []
      },
      strike: async () => {
        await replace()
        await replace()
      },
    }
  },
}
