/**
 * The form of a key: how one is made, and read from a request.
 *
 * Pure: no store. A secret is in memory only while it is made or checked; all other code sees its
 * hash.
 *
 * @module
 */

import { hash, randomBytes } from 'node:crypto'
import { OiError } from '../errors.js'

/** `oi-` and 32 random bytes in base64url. */
const prefix = 'oi-'
const randomByteCount = 32
const form = /^oi-[\w-]{43}$/
const scheme = 'bearer '

/** A new secret: 256 random bits. */
export function newSecret(): string {
  return prefix + randomBytes(randomByteCount).toString('base64url')
}

/**
 * The stored form of a secret. Plain SHA-256 is enough: nobody can guess 256 random bits, so a slow
 * hash would protect nothing.
 *
 * @returns 64 hex digits: a string is cheaper to make than bytes, and can be a map's key.
 */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** A result of {@link hashSecret} as bytes. */
export function hashBytes(hash: string): Buffer {
  return Buffer.from(hash, 'hex')
}

/**
 * The secret in an `Authorization` header. A text that cannot be a key is refused here, before it
 * costs a hash and a look-up.
 *
 * @throws {@link OiError} `ERR_API_KEY` if the header is absent, has another scheme or a malformed
 *   key.
 */
export function readSecret(header: string | undefined): string {
  if (!header) throw keyError('No API key was sent')
  if (header.slice(0, scheme.length).toLowerCase() !== scheme) {
    throw keyError('The Authorization header has another scheme than Bearer')
  }
  const secret = header.slice(scheme.length)
  if (!form.test(secret))
    throw keyError('The API key is malformed, as keys are oi- and 43 characters')
  return secret
}

/** Every refusal states the same remedy. */
export function keyError(problem: string): OiError {
  return new OiError('ERR_API_KEY', `${problem}: send Authorization: Bearer <key>`)
}
