/** The usage page follows the data. */
import { Accounts } from '../../src/accounts/accounts.js'
import { dayMs } from '../../src/accounts/ledger/booking.js'
import { fillAccounts } from '../helpers/full-accounts.js'
import { consoleTest } from '../helpers/console.js'

consoleTest('what was used today is shown by hour', {}, async (t, console) => {
  const { page } = console
  await console.signInFirst()
  await console.open('usage', 'Usage')
  await page.getByText('Nothing was used in this time').waitFor()
  const { secret } = await console.admin<{ secret: string }>('POST', '/keys', {
    workspace_id: 1,
    name: 'today',
  })
  t.equal(await console.ask(secret), 200)
  const chart = page.getByRole('heading', { name: 'Answered requests per hour' })
  while (!(await chart.isVisible())) {
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.waitForTimeout(200)
  }
  await page.getByText('Values for each hour').click()
  t.equal(
    await page
      .getByRole('table', { name: /for each hour/ })
      .getByRole('row')
      .count(),
    13,
  )
})

consoleTest(
  'a month of usage is shown by day, from its first day on',
  { prepare: fillAccounts },
  async (t, console) => {
    const { page } = console
    await console.signInFirst()
    await console.open('usage', 'Usage')
    await page.getByRole('heading', { name: 'Answered requests per day' }).waitFor()
    const accounts = new Accounts({ dataDir: console.dataDir })
    t.teardown(() => accounts.close())
    const fromMs = Math.floor(Date.now() / dayMs) * dayMs - 89 * dayMs
    const rows = accounts.usageOver({ by: 'model', per: 'day', fromMs, toMs: Date.now() + dayMs })
    const first = new Date(Math.min(...rows.map(({ startMs }) => startMs)))
    await page.getByText(`${first.toISOString().slice(0, 10)} 00:00 to `).waitFor()
    // A chosen time stays as chosen.
    await page.getByLabel('Time').selectOption('90 days, by day')
    await page.getByText(`${new Date(fromMs).toISOString().slice(0, 10)} 00:00 to `).waitFor()
    t.pass()
  },
)
