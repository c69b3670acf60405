/**
 * A booking: one answer, or several of the same kind that cost nothing.
 *
 * Bookings cross to the writer's thread as plain numbers: copying objects would cost the event loop
 * as much as writing them.
 *
 * @module
 */

export const hourMs = 3_600_000
export const dayMs = 86_400_000

/** What makes a request the same as an earlier one: retry-keys.ts. */
export interface RetryKey {
  /** A digest of the caller's key. */
  readonly key: string
  /** The item of a batch; 0 for a single request. */
  readonly item: number
  /** A digest of the request. */
  readonly request: string
  /** Until when it counts, milliseconds since 1970. */
  readonly untilMs: number
  /** Whether the answer is sent before the booking is written: it cannot be refused any more. */
  readonly answered: boolean
}

/** What answers took: whole numbers, negative to take back. */
export interface Used {
  /** The number of answers; -1: takes one back. */
  readonly requests: number
  /** Tokens of images and tokens from a cache included. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly imageTokens: number
  readonly cachedTokens: number
  /** Millionths of a credit. */
  readonly cost: number
}

export interface Booking extends Used {
  readonly workspaceId: number
  /** 0: no known key. */
  readonly keyId: number
  readonly model: string
  /** When it was answered, milliseconds since 1970. */
  readonly timeMs: number
  /** Whether the balance pays for it: it was limited when the answer was made. */
  readonly charged: boolean
  /** It is made once for this key. */
  readonly retry?: RetryKey | undefined
}

/** Sums that can be added to. */
export type Sum = { -readonly [Name in keyof Booking]: Booking[Name] }

/** Bookings as they are sent: {@link packedSize} numbers each, the model by its index in a list. */
export interface Packed {
  readonly models: readonly string[]
  readonly numbers: Float64Array
  /** Of the bookings that have one; the numbers have its index, or -1. */
  readonly retries: readonly RetryKey[]
}

const packedSize = 12

export function pack(bookings: readonly Booking[]): Packed {
  const models = new Map<string, number>()
  const retries: RetryKey[] = []
  const numbers = new Float64Array(bookings.length * packedSize)
  let at = 0
  for (const booking of bookings) {
    let model = models.get(booking.model)
    if (model === undefined) models.set(booking.model, (model = models.size))
    numbers[at++] = model
    numbers[at++] = booking.workspaceId
    numbers[at++] = booking.keyId
    numbers[at++] = booking.timeMs
    numbers[at++] = booking.requests
    numbers[at++] = booking.inputTokens
    numbers[at++] = booking.outputTokens
    numbers[at++] = booking.imageTokens
    numbers[at++] = booking.cachedTokens
    numbers[at++] = booking.cost
    numbers[at++] = Number(booking.charged)
    numbers[at++] = booking.retry === undefined ? -1 : retries.push(booking.retry) - 1
  }
  return { models: [...models.keys()], numbers, retries }
}

export function unpack({ models, numbers, retries }: Packed): Booking[] {
  const bookings: Booking[] = []
  for (let at = 0; at < numbers.length; at += packedSize) {
    bookings.push({
      model: models[numbers[at]!]!,
      workspaceId: numbers[at + 1]!,
      keyId: numbers[at + 2]!,
      timeMs: numbers[at + 3]!,
      requests: numbers[at + 4]!,
      inputTokens: numbers[at + 5]!,
      outputTokens: numbers[at + 6]!,
      imageTokens: numbers[at + 7]!,
      cachedTokens: numbers[at + 8]!,
      cost: numbers[at + 9]!,
      charged: numbers[at + 10] === 1,
      retry: retries[numbers[at + 11]!],
    })
  }
  return bookings
}

/** The workspace, key, model and hour of a booking, as a map's key. */
function sumKey({ workspaceId, keyId, model, timeMs }: Booking): string {
  return `${workspaceId} ${keyId} ${Math.floor(timeMs / hourMs)} ${model}`
}

export function addTo(sum: { -readonly [Name in keyof Used]: number }, used: Used): void {
  sum.requests += used.requests
  sum.inputTokens += used.inputTokens
  sum.outputTokens += used.outputTokens
  sum.imageTokens += used.imageTokens
  sum.cachedTokens += used.cachedTokens
  sum.cost += used.cost
}

/** Adds a booking to the sum of its kind. */
export function mergeInto(sums: Map<string, Sum>, booking: Booking): void {
  const key = sumKey(booking)
  const sum = sums.get(key)
  if (sum === undefined) sums.set(key, { ...booking })
  else addTo(sum, booking)
}

/** The booking that takes this one back. */
export function reversed(booking: Booking): Booking {
  return {
    ...booking,
    requests: -booking.requests,
    inputTokens: -booking.inputTokens,
    outputTokens: -booking.outputTokens,
    imageTokens: -booking.imageTokens,
    cachedTokens: -booking.cachedTokens,
    cost: -booking.cost,
  }
}

/** JSON that loses no number: NaN and the infinities become texts. */
export function describe(booking: Booking): string {
  return JSON.stringify(booking, (_, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  )
}
