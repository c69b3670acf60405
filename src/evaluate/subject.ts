/**
 * The subject of an evaluation: a model in this process, or a server.
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
import type { Reply } from './rows/types.js'

export interface Subject {
  readonly models: readonly ReportModel[]
  /** The facts that its answers depend on: results of different identities must not be mixed. */
  readonly identity: Json
  /** The most questions of one request. */
  readonly maxQuestions: number
  readonly ask: Ask
}

interface HowToAsk {
  /** As of `DecideOptions`. */
  readonly orders?: Orders | undefined
  /** Default: with evidence. */
  readonly evidence?: boolean
}

/** A model that is open in this process. */
export function localSubject(
  decider: Decider,
  { orders, evidence = true }: HowToAsk = {},
): Subject {
  return {
    ...factsOf(decider.models, orders),
    ask: (request, signal) => decider.decide(request, { evidence, orders, signal }),
  }
}

/**
 * A server.
 *
 * @param client - With as many retries as a long run needs.
 * @throws {@link OiError} `ERR_REMOTE` if it does not list its models.
 */
export async function remoteSubject(
  client: Client,
  { orders, evidence = true }: HowToAsk = {},
): Promise<Subject> {
  const models = await client.models().catch((cause: unknown) => {
    throw remoteError(cause, `${client.baseUrl}/v1/models`)
  })
  return {
    ...factsOf(models, orders),
    ask: async (request, signal) => {
      const options = { evidence, orders, signal }
      // As text, which keeps the order of names like "7" and the digits of numbers.
      const body = stringifyJson(request)
      const ask = () => client.decideText(body, options)
      const text = await waitForTurn(ask, signal).catch((cause) => {
        throw remoteError(cause, `${client.baseUrl}/v1/systemone`)
      })
      return readReply(text)
    },
  }
}

/** How long after a row's first request the client's retries may start over, milliseconds. */
const patienceMs = 600_000

/**
 * An exhausted limit says when to retry, and is no failure: places become free one by one, and
 * concurrent rows compete for them, so counted retries could run out within milliseconds.
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
    // The smallest limit, as rows can name any model; servers other than oi may have none.
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
  'same_bits',
])

/** All other fields, also those that a newer server adds. */
function identityOf(card: ModelCard): Json {
  const kept = Object.entries(card).filter(([name]) => !unimportant.has(name))
  return Object.fromEntries(kept)
}

function readReply(text: string): Reply {
  let body: Json | undefined
  try {
    body = parseJson(text)
  } catch {
    // The error below serves for this and for other wrong JSON.
  }
  if (isJsonObject(body) && isJsonObject(body['answers'])) return body as JsonObject & Reply
  throw new OiError('ERR_REMOTE', 'The reply has no answers: is this an address of oi serve?')
}

/** Statuses of faults of the request itself. */
const refusals: readonly (number | undefined)[] = [400, 413, 422]

function remoteError(cause: unknown, endpoint: string): unknown {
  if (!(cause instanceof OiRequestError)) return cause
  const { status, code, message } = cause
  if (refusals.includes(status)) return new OiError('ERR_REQUEST_UNACCEPTABLE', message, { cause })
  const text = status === undefined ? message : `${endpoint} answered ${status} ${code}: ${message}`
  return new OiError('ERR_REMOTE', text, { cause })
}
