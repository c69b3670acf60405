/**
 * Passwords, as scrypt hashes.
 *
 * Rules
 *   1. A hash takes 32 MiB and some fifth of a second of a pool thread, by design. One is made at a
 *      time: guesses queue up, and cannot exhaust the server's memory.
 *   2. The parameters are stored in the hash, so they can grow.
 *
 * @module
 */

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { OiError } from '../errors.js'
import { InTurn } from '../in-turn.js'

const shortestPassword = 12
const longestPassword = 256

/** OWASP's parameters for scrypt (2^15 blocks of 8, three times). */
const cost = { logN: 15, r: 8, p: 3 }
const [saltBytes, hashBytes] = [16, 32]

const turns = new InTurn()

/** @throws {@link OiError} `ERR_ACCOUNTS` if it is too short or too long. */
export function checkNewPassword(password: string): void {
  if (password.length >= shortestPassword && password.length <= longestPassword) return
  const rule = `A password has ${shortestPassword} to ${longestPassword} characters`
  throw new OiError('ERR_ACCOUNTS', rule)
}

/** @returns The stored form: `scrypt$15$8$3$<salt>$<hash>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const { logN, r, p } = cost
  const hash = await derive(password, salt, logN, r, p)
  return ['scrypt', logN, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/**
 * @param stored - A result of {@link hashPassword}; undefined: no password, which takes as long.
 */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const parts = stored?.split('$')
  if (parts?.length !== 6) {
    await derive(password, Buffer.alloc(saltBytes), cost.logN, cost.r, cost.p)
    return false
  }
  const [, logN, r, p, salt, hash] = parts as [string, string, string, string, string, string]
  const expected = Buffer.from(hash, 'base64url')
  const found = await derive(
    password,
    Buffer.from(salt, 'base64url'),
    Number(logN),
    Number(r),
    Number(p),
  )
  return expected.length === found.length && timingSafeEqual(expected, found)
}

/** Rule 1. */
function derive(password: string, salt: Buffer, logN: number, r: number, p: number) {
  const options = { N: 2 ** logN, r, p, maxmem: 2 * 128 * 2 ** logN * r }
  return turns.run(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        // The same text, whichever way a keyboard composes it.
        scrypt(password.normalize('NFKC'), salt, hashBytes, options, (error, key) =>
          error === null ? resolve(key) : reject(error),
        )
      }),
  )
}
