/**
 * What the store of shared limits does as one step, in Lua. Its own clock counts, so that no node's
 * clock matters.
 *
 * Keys of a workspace: the admissions of the last minute (a sorted set, by time), and the leases of
 * concurrent places (a sorted set, by the time at which they end).
 *
 * @module
 */

import { windowMs } from '../request-window.js'

/** How long the lease of a place lasts, unless it is renewed. A node that has died frees its own. */
export const leaseMs = 10_000

const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/**
 * Takes a request of the minute and a place, both or none.
 *
 * A refusal changes nothing: were it to keep the key alive, a caller who never stops asking would
 * be refused for good.
 *
 * KEYS: admissions, leases. ARGV: id, requests per minute, places; 0: unlimited.
 * Returns what was refused (0 nothing, 1 the minute, 2 the place), the milliseconds until the minute
 * has room again, and how many requests of the minute are used.
 */
export const admit = `${now}
local id, most, places = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local used = 0
if most > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${windowMs})
  used = redis.call('ZCARD', KEYS[1])
  if used >= most then
    local oldest = redis.call('ZRANGE', KEYS[1], used - most, used - most, 'WITHSCORES')
    return {1, math.max(1, oldest[2] + ${windowMs} - now), used}
  end
end
if places > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  if redis.call('ZCARD', KEYS[2]) >= places then return {2, 0, used} end
  redis.call('ZADD', KEYS[2], now + ${leaseMs}, id)
  redis.call('PEXPIRE', KEYS[2], ${leaseMs})
end
if most > 0 then
  redis.call('ZADD', KEYS[1], now, id)
  redis.call('PEXPIRE', KEYS[1], ${windowMs})
end
return {0, 0, used + 1}
`

/**
 * Renews leases, also those that a store which was started anew does not know.
 *
 * KEYS: leases. ARGV: ids.
 */
export const renew = `${now}
for i = 1, #ARGV do redis.call('ZADD', KEYS[1], now + ${leaseMs}, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ${leaseMs})
`
