/**
 * The kinds of work for which the server is compared with its peer, and the peer's ways of use.
 *
 * @module
 */

import type { DecideRequest } from '../../src/decide/types.js'
import type { Usage } from './llama-server.js'
import type { BenchOptions } from './options.js'
import type { Requests } from './requests.js'

export interface Work {
  readonly name: string
  /** Against the peer without tuning flags, and at its best. */
  readonly goals: { readonly default: number; readonly best: number; readonly independent?: number }
  /** Asked once before all rounds, untimed: the cached states. */
  first?(): Promise<readonly DecideRequest[]>
  /** One round; every request is a client, all of them at once unless `inTurn`. */
  next(): Promise<readonly DecideRequest[]>
  readonly inTurn?: boolean
  /** The peer's: without tuning flags, and with them. */
  readonly usages: { readonly default: readonly Usage[]; readonly best: readonly Usage[] }
}

const questions = 16
const clients = 32
const shortRequests = 8
const stateRange = [60, 200] as const
const contextTokens = 8192

const attentions = ['on', 'off'] as const

/** Needed by every way: room for the work. Not tuning. */
const standard = ['-c', String(contextTokens)]

const turn = (...flags: string[]): Usage => ({ flags, order: 'in turn', ownSlots: false })

/** A slot for each question or client, with room for `tokens` in each. */
function slots(count: number, tokens: number, flash: string, order: Usage['order']): Usage {
  const room = ['-c', String(count * Math.ceil(tokens / 256) * 256)]
  const flags = ['-fa', flash, '-np', String(count), '--no-kv-unified', ...room]
  return { flags, order, ownSlots: true }
}

export function allWork(requests: Requests, options: BenchOptions): readonly Work[] {
  const { stateTokens, questionTokens } = options
  const size = { stateTokens, questions, questionTokens }
  const perSlot = stateTokens + questionTokens + 16
  const single = attentions.map((flash) => turn('-fa', flash, '-np', '1', ...standard))
  const standardAtOnce: Usage = { ...turn(...standard), order: 'at once' }
  let resident: DecideRequest

  return [
    {
      name: `new state, ${questions} questions`,
      goals: { default: 1.3, best: 1.1, independent: 6 },
      next: async () => [await requests.make(size)],
      // At once, every slot would evaluate the state by itself.
      usages: { default: [turn(...standard)], best: single },
    },
    {
      name: `same state, ${questions} new questions`,
      goals: { default: 1.8, best: 1.2 },
      first: async () => [(resident = await requests.make(size))],
      next: async () => [await requests.again(resident, size)],
      usages: {
        default: [turn(...standard), standardAtOnce],
        best: [
          ...single,
          ...attentions.map((flash) => slots(questions, perSlot, flash, 'at once')),
        ],
      },
    },
    {
      name: 'one question, one short state',
      goals: { default: 1, best: 1 },
      next: () => many(shortRequests, 1),
      inTurn: true,
      usages: { default: [turn(...standard)], best: single },
    },
    {
      name: `${clients} clients, short states, 3 questions`,
      goals: { default: 1.5, best: 1.2 },
      next: () => many(clients, 3),
      usages: {
        default: [turn(...standard), standardAtOnce],
        best: [
          ...single,
          ...attentions.flatMap((flash) =>
            [8, clients].map((count) => ({
              ...slots(count, stateRange[1] + questionTokens + 16, flash, 'in turn'),
              ownSlots: count === clients,
            })),
          ),
        ],
      },
    },
  ]

  async function many(count: number, each: number): Promise<DecideRequest[]> {
    const [from, to] = stateRange
    const made: DecideRequest[] = []
    for (let i = 0; i < count; i++) {
      const tokens = from + Math.round(((to - from) * i) / Math.max(1, count - 1))
      made.push(await requests.make({ stateTokens: tokens, questions: each, questionTokens }))
    }
    return made
  }
}
