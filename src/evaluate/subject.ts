/**
 * What is evaluated: a model that is open here, or those of a server.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises'
import { isJsonObject, type Json, type JsonObject, parseJson, stringifyJson } from '../api/json.js'
import { type Client, OiRequestError } from '../client/index.js'
import type { Decider, ModelCard, Orders } from '../decide/types.js'
import { OiError } from '../errors.js'
import type { Ask } from './measure.js'
import type { ReportModel } from './report.js'
import type { Reply } from './types.js'

export interface Subject {
  readonly models: readonly ReportModel[]
  /** What its answers depend on: with another identity they are not to be mixed. */
  readonly identity: Json
  /** Questions of one request. */
  readonly maxQuestions: number
  readonly ask: Ask
}

/**
 * An open model.
 *
 * @param orders - As of `DecideOptions`.
 */
export function localSubject(decider: Decider, orders?: Orders): Subject {
  return {
    ...factsOf(decider.models, orders),
    ask: (request, signal) => decider.decide(request, { evidence: true, orders, signal }),
  }
}

/**
 * A server.
 *
 * @param client - With as many retries as a long run needs.
 * @param orders - As of `DecideOptions`.
 * @throws {@link OiError} `ERR_REMOTE` if it cannot be asked for its models.
 */
export async function remoteSubject(client: Client, orders?: Orders): Promise<Subject> {
  const models = await client.models().catch((cause: unknown) => {
    throw remoteError(cause, `${client.baseUrl}/v1/models`)
  })
  return {
    ...factsOf(models, orders),
    ask: async (request, signal) => {
      const options = { evidence: true, orders, signal }
      // As a text: names like "7" stay where they are, and numbers as they were written.
      const body = stringifyJson(request)
      const ask = () => client.decideText(body, options)
      const text = await waitForTurn(ask, signal).catch((cause) => {
        throw remoteError(cause, `${client.baseUrl}/v1/systemone`)
      })
      return readReply(text)
    },
  }
}

/** How long after a row's first request the client's own retries may begin anew, milliseconds. */
const patienceMs = 600_000

/**
 * A limit that is used up says when to come back, and is no failure: places become free one by
 * one, and rows at the same time compete for them, so retries that are counted can run out within
 * milliseconds.
 */
async function waitForTurn<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const untilMs = performance.now() + patienceMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof OiRequestError) || error.status !== 429) throw error
      const { retryAfterMs } = error
      if (retryAfterMs === undefined || performance.now() + retryAfterMs > untilMs) throw error
      await pause(retryAfterMs, undefined, { signal })
    }
  }
}

function factsOf(
  cards: readonly ModelCard[],
  orders: Orders | 'auto' = 'auto',
): Omit<Subject, 'ask'> {
  return {
    models: cards.map(({ name, digest, readout }) => ({
      name,
      ...(digest !== undefined && { digest }),
      ...(readout !== undefined && { readout }),
    })),
    identity: [...cards.map(identityOf), { orders }],
    // The least, as rows can name any model; servers of other makes need not tell.
    maxQuestions: Math.min(...cards.map(({ limits }) => limits?.max_questions ?? 1)),
  }
}

/** Fields of a card that may change while the answers stay the same. */
const unimportant: ReadonlySet<string> = new Set<keyof ModelCard>([
  'description',
  'release_date',
  'aliases',
  'default',
  'modalities',
  'limits',
])

/** All other fields, those that a newer server adds too. */
function identityOf(card: ModelCard): Json {
  const kept = Object.entries(card).filter(([name]) => !unimportant.has(name))
  return Object.fromEntries(kept)
}

function readReply(text: string): Reply {
  let body: Json | undefined
  try {
    body = parseJson(text)
  } catch {
    // Said below, in the same words as for JSON of another kind.
  }
  if (isJsonObject(body) && isJsonObject(body['answers'])) return body as JsonObject & Reply
  throw new OiError('ERR_REMOTE', 'The reply has no answers: is this an address of oi serve?')
}

/** Statuses of a request that is wrong in itself. */
const refusals: readonly (number | undefined)[] = [400, 413, 422]

function remoteError(cause: unknown, endpoint: string): unknown {
  if (!(cause instanceof OiRequestError)) return cause
  const { status, code, message } = cause
  if (refusals.includes(status)) return new OiError('ERR_REQUEST_UNACCEPTABLE', message, { cause })
  const text = status === undefined ? message : `${endpoint} answered ${status} ${code}: ${message}`
  return new OiError('ERR_REMOTE', text, { cause })
}
