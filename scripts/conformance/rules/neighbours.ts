/**
 * Answers depend on their state and question alone: not on other questions, not on their place
 * among these, not on earlier requests.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { asking, noul, requests } from '../../../test/helpers/request-text.js'
import { type Answer, batchPath, type Context, numbersOf } from '../context.js'
import { about, check, near, sameAnswer } from '../expect.js'
import { sum } from '../formulas.js'
import { section } from '../rule.js'

const team =
  '{"type":"choice","instructions":"Which team?","criteria":{"billing":"payments","technical":null,"sales":""}}'
const urgency = '{"type":"score","instructions":"How urgent?","criteria":["can wait","soon","now"]}'
const asked: Readonly<Record<string, string>> = {
  money: '{"type":"noul","instructions":"Is this about money?"}',
  team,
  urgency,
}
/** Questions with other types, lengths and answers than the tested ones. */
const siblings = [
  noul,
  '{"type":"noul","instructions":"Say yes.","criteria":{"true":"always","false":"never"}}',
  '{"type":"choice","criteria":{"a":null,"b":"the other","c":{"d":[1,2,3]}}}',
  '{"type":"score","instructions":"How long is it?","criteria":["short","long"]}',
]

const state = '"I was charged twice, and nobody answers."'
const bodyOf = (questions: readonly (readonly [name: string, question: string])[], of = state) =>
  asking(`{${questions.map(([name, one]) => `"${name}":${one}`).join()}}`, `"state":${of}`)
const beside = siblings.map((one, i) => [`s${i}`, one] as const)

function requireSame(what: string, answer: Answer | undefined, expected: Answer | undefined): void {
  const given = numbersOf(answer)
  for (const [name, value] of Object.entries(numbersOf(expected))) {
    near(`${what}: ${name}`, given[name], value, sameAnswer)
  }
}

async function eachAsked(look: (question: string) => Promise<void>): Promise<void> {
  for (const [name, question] of Object.entries(asked)) await about(name, () => look(question))
}

type Change = readonly [cause: number, effect: number]

/** Words of about one token each, so that questions with them are computed alike. */
const things = [
  ...['rain', 'money', 'dogs', 'water', 'bills', 'speed', 'music', 'anger', 'trust', 'work'],
  ...['children', 'paper', 'war', 'love', 'cars', 'food'],
]

/** The smallest share that counts. */
const leak = 1e-3
/** So many standard errors are no chance, and the noise of a quantized model is. */
const certain = 5

/** @throws Failure if the effect is a share of its cause: least squares through the origin. */
function requireNoSlope(what: string, changes: readonly Change[]): void {
  const square = sum(changes.map(([cause]) => cause * cause))
  if (square === 0) return
  const slope = sum(changes.map(([cause, effect]) => cause * effect)) / square
  const rest = sum(changes.map(([cause, effect]) => (effect - slope * cause) ** 2))
  const error = Math.sqrt(rest / (changes.length - 1) / square)
  check(
    Math.abs(slope) < leak || Math.abs(slope) < certain * error,
    `${what}: ${slope.toExponential(2)} ± ${error.toExponential(1)}`,
  )
}

export const neighbourRules = section('decisions/Responses', {
  'an answer does not hang on the questions beside it': (context) =>
    eachAsked(async (question) => {
      const alone = await context.answerOne(bodyOf([['q', question]]))
      for (const count of [1, siblings.length]) {
        const { answers } = await context.answer(
          bodyOf([...beside.slice(0, count), ['q', question]]),
        )
        requireSame(`beside ${count}`, answers['q'], alone)
      }
    }),
  'an answer does not hang on its place among the questions': (context) =>
    eachAsked(async (question) => {
      const q = ['q', question] as const
      const { answers: first } = await context.answer(bodyOf([q, ...beside]))
      const { answers: amid } = await context.answer(
        bodyOf([...beside.slice(0, 2), q, ...beside.slice(2)]),
      )
      const { answers: last } = await context.answer(bodyOf([...beside, q]))
      requireSame('first and last', first['q'], last['q'])
      requireSame('amid and last', amid['q'], last['q'])
    }),
  'no part of an answer goes into the answers beside it, however small': async (context) => {
    const ask = (thing: string) => `{"type":"noul","instructions":"Is this about ${thing}?"}`
    const noulsOf = async (...asked: readonly string[]) => {
      const body = bodyOf(asked.map((one, i) => [`q${i}`, one]))
      const { answers } = await context.answer(body)
      return asked.map((_, i) => Number(answers[`q${i}`]?.noul))
    }
    /** The change of an answer, and the change beside it that it may come from. */
    const besideOthers: Change[] = []
    const besideAnother: Change[] = []
    for (const [i, thing] of things.entries()) {
      const asked = ask(thing)
      const others = [1, 5].map((step) => ask(things[(i + step) % things.length]!))
      const [one, other] = others as [string, string]
      await noulsOf(asked)
      const [alone] = (await noulsOf(asked)) as [number]
      const first = (await noulsOf(one, asked, one)) as [number, number, number]
      const second = (await noulsOf(other, asked, other)) as [number, number, number]
      besideOthers.push([1, first[1] - alone])
      besideAnother.push([second[0] - first[0], second[1] - first[1]])
    }
    requireNoSlope('the answer moves by the presence of others', besideOthers)
    requireNoSlope('the answer moves by a share of its neighbour', besideAnother)
  },
  'one question asked several times has one answer': (context) =>
    eachAsked(async (question) => {
      const names = ['a', 'b', 'c', 'd']
      const { answers } = await context.answer(bodyOf(names.map((name) => [name, question])))
      for (const name of names.slice(1)) requireSame(`a and ${name}`, answers[name], answers['a'])
    }),
  'an answer from a cache is the same': async (context) => {
    await eachAsked(async (question) => {
      // A new state, long enough to be worth caching.
      const fresh = JSON.stringify(`${randomUUID()} ${'I was charged twice. '.repeat(30)}`)
      const body = bodyOf([['q', question]], fresh)
      const first = await context.answerOne(body)
      requireSame('asked again', await context.answerOne(body), first)
      const { answers } = await context.answer(bodyOf([['q', question], ...beside], fresh))
      requireSame('asked beside others', answers['q'], first)
      requireSame('asked a third time', await context.answerOne(body), first)
      await requireSameInBatch(context, body, first)
    })
  },
})

async function requireSameInBatch(context: Context, body: string, first: Answer): Promise<void> {
  const reply = await context.post(requests([body]), {}, batchPath)
  const { results } = JSON.parse(reply.text) as {
    results: { answers?: Record<string, Answer> }[]
  }
  requireSame('asked in a batch', results[0]?.answers?.['q'], first)
}
