/**
 * What PostgreSQL's errors mean for the operator and for callers.
 *
 * @module
 */

/** An error of the store, in a form that crosses threads. */
export interface Failure {
  readonly message: string
  /** PostgreSQL's five characters, or the system's word; empty: none. */
  readonly code: string
}

/** A call failed because of PostgreSQL, or the way to it. */
export class PostgresError extends Error {
  readonly code: string

  constructor({ message, code }: Failure) {
    super(message)
    this.name = 'PostgresError'
    this.code = code
  }
}

/** By the beginning of the code; the first match counts. */
const reasons: readonly (readonly [beginning: string, reason: string])[] = [
  ['28', 'PostgreSQL refuses the user or the password'],
  ['3D000', 'PostgreSQL has no such database'],
  ['42501', 'the user may not do that in PostgreSQL'],
  ['53100', 'the disk of PostgreSQL is full'],
  ['53300', 'PostgreSQL has no connection left'],
  ['57P', 'PostgreSQL is starting or ending'],
  ['25006', 'PostgreSQL is a copy that cannot be written'],
  ['40P01', 'two writes waited for each other'],
  ['55P03', 'another write took too long'],
  ['57014', 'PostgreSQL took too long'],
  ['E', 'PostgreSQL cannot be reached'],
]

/** An error of PostgreSQL or of its client, with what it means first. */
export function failureOf(error: unknown): Failure {
  const { message = String(error), code = '' } = error as { message?: string; code?: string }
  const known = reasons.find(([beginning]) => code.startsWith(beginning))
  const detail = [message || undefined, code || undefined].filter(Boolean).join(', ')
  const means = known?.[1] ?? (code === '' ? 'PostgreSQL cannot be reached' : 'PostgreSQL fails')
  return { message: `${means} (${detail})`, code }
}

/** Whether it will not pass by itself, so that a start need not wait for it. */
export const isLasting = ({ code }: Failure): boolean => /^(28|3D000|42)/.test(code)

/** A write that failed for a moment only: others' locks. */
export const isBrief = ({ code }: Failure): boolean => /^(40|55P03)/.test(code)
