/**
 * The reply of `GET /v1/usage` about a workspace and a key. Types only.
 *
 * @module
 */

export interface UsageReport {
  readonly workspace: string
  /** Millionths of a credit; null is unlimited. */
  readonly balance: number | null
  readonly limits: {
    /** 0 is unlimited, here and below. */
    readonly requests_per_minute: number
    readonly concurrent: number
  }
  /** For all its keys together; null is unlimited. */
  readonly budget: {
    /** Input and output tokens of a period. */
    readonly tokens: number
    readonly period: 'day' | 'week' | 'month'
    readonly remaining_tokens: number
    /** When the next period begins, ISO 8601, UTC. */
    readonly resets_at: string
  } | null
  /** Newest day first; days without requests are left out. */
  readonly usage: readonly UsageOfDay[]
  /** The key of the request, and its usage. */
  readonly key?: { readonly name: string; readonly usage: readonly UsageOfDay[] }
}

/** The usage of one model on one day. */
export interface UsageOfDay {
  /** ISO date, UTC. */
  readonly day: string
  readonly model: string
  readonly requests: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly image_tokens: number
  readonly cached_tokens: number
  /** Millionths of a credit. */
  readonly cost: number
}
