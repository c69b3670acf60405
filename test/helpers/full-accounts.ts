/**
 * Accounts after a month of use: a thousand keys in a dozen workspaces, ten thousand rows in the
 * ledger of one of them.
 */
import { Accounts } from '../../src/accounts/accounts.js'
import { dayMs } from '../../src/accounts/ledger/booking.js'
import { createRandom } from './random.js'

const teams = [
  ...['billing', 'support', 'search', 'fraud', 'returns', 'logistics'],
  ...['mobile', 'moderation', 'research', 'sales', 'legal'],
]
const uses = [
  'invoices',
  'triage',
  'ranking',
  'alerts',
  'nightly batch',
  'staging',
  'import',
  'bot',
]
const models = ['oi-small', 'qwen3-4b', 'lfm2-d1', 'gemma-3-4b']

export const fullKeys = 1000
const fullRows = 10_000

export function fillAccounts(dataDir: string): void {
  const accounts = new Accounts({ dataDir })
  const administration = accounts.administer({ kind: 'command', detail: 'root' })
  const { next: random, pick } = createRandom(7)
  try {
    administration.setPrice('oi-small', { input: 150_000, output: 600_000 })
    const workspaces = ['default', ...teams].map((name) => {
      if (accounts.workspaces.list().some((one) => one.name === name))
        return accounts.workspaces.get(name)
      return accounts.workspaces.create(name)
    })
    const [first, second] = workspaces
    administration.credit(first!.id, 250_000_000)
    administration.changeWorkspace(second!.id, { budget: { tokens: 40_000, period: 'month' } })
    administration.changeWorkspace(first!.id, { budget: { tokens: 4_000_000, period: 'month' } })
    const keys = Array.from({ length: fullKeys }, (_, i) => {
      const workspace = i < 12 ? workspaces[i]! : pick(workspaces)
      const some = random() < 0.3 ? [pick(models)] : null
      const expiresMs = random() < 0.2 ? Date.now() + Math.ceil(300 * random()) * dayMs : null
      const name = `${pick(uses)} ${i + 1}`
      return {
        workspace,
        key: accounts.keys.create(workspace.id, { name, models: some, expiresMs }),
      }
    })
    const ofFirst = keys.filter(({ workspace }) => workspace.id === first!.id)
    for (let i = 0; i < 1.4 * fullRows; i++) {
      const { workspace, key } = pick(i < fullRows ? ofFirst.slice(0, 8) : keys.slice(0, 40))
      // More in recent days, and more in the daytime.
      const age = 29 * random() ** 1.4
      const hour = 6 + 14 * random()
      const day = Math.floor(Date.now() / dayMs) - Math.ceil(age)
      const inputTokens = 40 + Math.floor(400 * random())
      const booking = {
        ...{ workspaceId: workspace.id, keyId: key.id, model: pick(models) },
        timeMs: Math.min(Date.now(), Math.floor(day * dayMs + hour * 3_600_000)),
        ...{ requests: 1, inputTokens, outputTokens: 12 + Math.floor(20 * random()) },
        ...{ imageTokens: 0, cachedTokens: Math.floor(inputTokens * random()) },
        ...{ cost: 20 + Math.floor(80 * random()), charged: workspace.id === first!.id },
      }
      accounts.ledger.book(booking, false)
      accounts.ledger.markUsed(key.id)
      if (i % 2000 === 1999) flush(accounts)
    }
    flush(accounts)
    for (const { key } of keys.slice(20, 60)) accounts.keys.change(key.id, {}, random() < 0.5)
    for (const { key } of keys.slice(60, 90)) accounts.keys.revoke(key.id)
  } finally {
    accounts.close()
  }
}

function flush({ ledger }: Accounts): void {
  if (!ledger.flush(60_000)) throw new Error(ledger.health.trouble ?? 'the ledger is slow')
}
