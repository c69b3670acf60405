/**
 * The hub that models are pulled from, and its token, by the environment.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import { isSafeForToken, type Token } from './fetch.js'
import { readAddress } from './source.js'

/** As `process.env`. */
type Environment = Readonly<Record<string, string | undefined>>

const defaultHub = 'https://huggingface.co'

/** Of every pull. A range is long enough to make the overhead of its request negligible. */
export const pullDefaults = { silenceMs: 30_000, backoffMs: 500, pieceBytes: 64 << 20 } as const
export const pullConnections = 4

/** @param given - Instead of HF_ENDPOINT. @throws {@link OiError} `ERR_CONFIG`. */
export function hubOf(environment: Environment, given?: string): URL {
  return readAddress('--hub', given ?? (environment['HF_ENDPOINT'] || defaultHub))
}

/**
 * The token of HF_TOKEN, for the hub alone.
 *
 * @throws As {@link tokenFor}.
 */
export function hubToken(
  hub: URL,
  environment: Environment,
  warn: (text: string) => void,
): Token | undefined {
  const text = environment['HF_TOKEN']?.trim()
  return text ? tokenFor(hub, 'HF_TOKEN', text, warn) : undefined
}

/** No message shows the token. @throws {@link OiError} `ERR_CONFIG` if it is none. */
export function tokenFor(
  url: URL,
  place: string,
  text: string,
  warn: (text: string) => void,
): Token {
  if (!/^[\x21-\x7e]{1,4096}$/.test(text)) {
    throw new OiError('ERR_CONFIG', `${place}: expected one token of visible characters`)
  }
  if (!isSafeForToken(url)) {
    warn(`The token of ${place} is not sent: ${url.origin} is read over plain HTTP`)
  }
  return { text, origin: url.origin }
}

/** @throws {@link OiError} `ERR_CONFIG` unless it is one. */
export function readSha256(text: string | undefined, place: string): string | undefined {
  const digest = text?.toLowerCase().replace(/^sha256:/, '')
  if (digest === undefined || /^[0-9a-f]{64}$/.test(digest)) return digest
  throw new OiError('ERR_CONFIG', `${place}: expected 64 hexadecimal digits, got ${text}`)
}
