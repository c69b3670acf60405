/**
 * The server's process is killed during its work, again and again, on the same data folder.
 * OI_TEST_KILLS is the number of kills; 5 by default.
 */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../../src/accounts/accounts.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { RunningCommand } from '../helpers/command.js'
import { createRandom } from '../helpers/random.js'

const kills = Number(process.env['OI_TEST_KILLS'] ?? 5)
const clients = 16
const credits = 900_000_000_000_000

t.test(
  'kill -9 loses no charged answer, and charges none twice',
  { timeout: 120_000 + 30_000 * kills },
  async (t) => {
    const dataDir = t.testdir()
    const accounts = new Accounts({ dataDir })
    const { secret } = accounts.createFirstKey()!
    const { id } = accounts.workspace('default')
    accounts.terms.setLimits(id, { requestsPerMinute: 0, concurrent: 0 })
    accounts.credits.add(id, credits)
    accounts.prices.set('stub', { input: 1_000_000, output: 1_000_000 })
    accounts.close()

    const args = ['serve', '--model', 'stub.gguf', '--port', '0', '--data', dataDir]
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const random = createRandom(Date.now())
    let [sent, received] = [0, 0]
    for (let kill = 1; kill <= kills; kill++) {
      const server = new RunningCommand(args, 'instant')
      t.teardown(() => server.process.kill('SIGKILL'))
      const [, url] = await server.match(/Listening on (http:\S+)/)
      await server.match(/^Ready$/m)
      const before = received
      const client = async () => {
        for (;;) {
          sent++
          try {
            const reply = await fetch(`${url}/v1/systemone`, {
              method: 'POST',
              headers,
              body: '{}',
            })
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
      server.process.kill('SIGKILL')
      await Promise.all([server.exited, load])

      const seen = audit(dataDir)
      t.ok(isBalanced(seen), JSON.stringify(seen))
      t.ok(received <= seen.booked && seen.booked <= sent, `${received}, ${seen.booked}, ${sent}`)
      t.equal(seen.balance, credits - 15 * seen.booked)
    }
    t.comment(`${kills} kills: ${received} replies received of ${sent} requests`)
  },
)
