/** A server whose workspace pays for what it asks. */
import t from 'tap'
import { audit, isBalanced } from './audit.js'
import { decidePath, post } from './asking.js'
import { numbers, requestsAbout } from './batch.js'
import { type LimitedOptions, type LimitedServer, withLimits } from './limited.js'

export const price = { input: 2_000_000, output: 5_000_000 }
export const batchOf = (count: number) => requestsAbout(numbers(count))
/** Of an answer of the stub. */
export const cost = 12 * 2 + 3 * 5

export type Asking = (
  headers?: Record<string, string>,
  body?: string,
  path?: string,
) => Promise<{ status: number; charged: string | null; code: string | undefined }>

/** A server whose workspace pays, and how it is asked. */
export const withPaying = (
  options: LimitedOptions,
  use: (server: LimitedServer & { ask: Asking; requests: () => number }) => Promise<void>,
) =>
  withLimits({}, options, async (server) => {
    const { accounts, workspaceId } = server
    accounts.prices.set('stub', price)
    accounts.credits.add(workspaceId, 1_000_000)
    const ask: Asking = async (headers = {}, body = '{}', at = decidePath) => {
      const reply = await post(server, body, headers, at)
      const { error } = (await reply.json()) as { error?: { code: string } }
      return { status: reply.status, charged: reply.headers.get('x-oi-charged'), code: error?.code }
    }
    const requests = () =>
      accounts.usage('default').usage.reduce((sum, day) => sum + day.requests, 0)
    await use({ ...server, ask, requests })
    accounts.ledger.flush()
    t.ok(isBalanced(audit(server.dataDir)), 'the ledger agrees')
  })
