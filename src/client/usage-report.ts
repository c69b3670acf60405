/**
 * What `GET /v1/usage` tells about a workspace. Types only.
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
  /** Newest day first; days without requests are left out. */
  readonly usage: readonly UsageOfDay[]
}

/** What one model did in one day. */
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
