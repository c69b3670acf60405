/**
 * The server's process is killed during its work, again and again, on the same data folder.
 * OI_TEST_KILLS is the number of kills; 5 by default.
 */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { audit, isBalanced } from '../helpers/audit.js'
import { createRandom } from '../helpers/random.js'
import { post } from '../helpers/asking.js'
import { firstKey } from '../helpers/data-folder.js'
import { ServerProcess } from '../helpers/server-process.js'

const kills = Number(process.env['OI_TEST_KILLS'] ?? 5)
const clients = 16
const credits = 900_000_000_000_000

t.test(
  'kill -9 loses no charged answer, and charges none twice',
  { timeout: 120_000 + 30_000 * kills },
  async (t) => {
    const dataDir = t.testdir()
    const { secret: key } = firstKey(dataDir, (accounts, id) => {
      accounts.terms.setLimits(id, { requestsPerMinute: 0, concurrent: 0 })
      accounts.credits.add(id, credits)
      accounts.prices.set('stub', { input: 1_000_000, output: 1_000_000 })
    })

    const random = createRandom(Date.now())
    let [sent, received] = [0, 0]
    for (let kill = 1; kill <= kills; kill++) {
      const server = await ServerProcess.start(t, { dataDir })
      const before = received
      const client = async () => {
        for (;;) {
          sent++
          try {
            const reply = await post({ url: server.url(''), key })
            await reply.text()
            if (reply.status !== 200) throw new Error(`status ${reply.status}`)
            received++
          } catch (error) {
            // fetch() throws TypeError for a lost connection: the server was killed.
            if (error instanceof TypeError) return
            throw error
          }
        }
      }
      const load = Promise.all(Array.from({ length: clients }, client))
      const enough = before + 1 + random.integer(400)
      await server.until(() => received >= enough)
      await sleep(10 * random.next())
      server.child.kill('SIGKILL')
      await Promise.all([server.exited, load])

      const seen = audit(dataDir)
      t.ok(isBalanced(seen), JSON.stringify(seen))
      t.ok(received <= seen.booked && seen.booked <= sent, `${received}, ${seen.booked}, ${sent}`)
      t.equal(seen.balance, credits - 15 * seen.booked)
    }
    t.comment(`${kills} kills: ${received} replies received of ${sent} requests`)
  },
)
