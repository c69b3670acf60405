/** Workspaces, their budgets and ledgers, in a browser. */
import { consoleTest } from '../helpers/console.js'

consoleTest('workspaces', {}, async (t, console) => {
  const { page } = console
  await console.signInFirst()
  await console.open('workspaces', 'Workspaces')
  const section = (name: string) => page.getByRole('region', { name })
  let key = ''

  await t.test('one is made, renamed and limited at the same place', async (t) => {
    await page.getByRole('button', { name: 'Create workspace' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('<img src=x onerror=alert(1)>')
    await dialog.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByRole('heading', { name: '<img src=x onerror=alert(1)>', level: 1 }).waitFor()
    t.equal(await page.locator('main img').count(), 0, 'a name is a text')
    await section('Name').getByLabel('Name').fill('shop')
    await section('Name').getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor()
    const limit = section('Limits').getByLabel('Requests', { exact: true })
    await limit.fill('12 apples')
    await section('Limits').getByText('A whole number, or nothing for no limit.').waitFor()
    await limit.fill('1.5k')
    await section('Limits').getByRole('button', { name: 'Save limits' }).click()
    await section('Limits').getByRole('button', { name: 'Save limits', disabled: true }).waitFor()
    const id = Number(/workspaces\/(\d+)/.exec(page.url())![1])
    const workspace = await console.admin('GET', `/workspaces/${id}`)
    t.match(workspace, { name: 'shop', limits: { requests_per_minute: 1500 } })
    const made = { workspace_id: id, name: 'till' }
    key = (await console.admin<{ secret: string }>('POST', '/keys', made)).secret
  })

  await t.test('a budget that is used up says so, and when it resets', async (t) => {
    await section('Budget').getByLabel('Tokens').fill('10')
    await section('Budget').getByLabel('Period').selectOption({ index: 2 })
    await section('Budget').getByRole('button', { name: 'Set budget' }).click()
    await section('Budget').getByText('0 of 10 tokens used this month').waitFor()
    t.equal(await console.ask(key), 200)
    const refused = await console.ask(key)
    t.ok(refused === 402 || refused === 429, `refused with ${refused}`)
    await page.reload()
    await section('Budget').getByText(/^Used up: \d+ of 10 tokens used this month$/).waitFor()
    const now = new Date()
    const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
    const day = next.toISOString().slice(0, 10)
    await section('Budget').getByText(`Resets ${day} 00:00 UTC`).waitFor()
    await console.open('keys', 'API keys')
    const row = page.getByRole('row').filter({ hasText: 'till' })
    await row.getByText(`0 of 10 tokens left this month, resets ${day} UTC`).waitFor()
    await row.getByRole('link', { name: 'shop' }).click()
    await section('Budget').getByLabel('Tokens').fill('5M')
    await section('Budget').getByRole('button', { name: 'Save budget' }).click()
    await section('Budget').getByText(/^\d+ of 5,000,000 tokens used this month$/).waitFor()
    t.equal(await console.ask(key), 200)
  })

  await t.test('credit is given, and the ledger tells of it', async (t) => {
    await section('Balance').getByLabel('Credit').fill('12.5')
    await section('Balance').getByRole('button', { name: 'Give credits' }).click()
    await section('Balance').getByText('12.5 credits left').waitFor()
    const ledger = page.getByRole('table', { name: 'Ledger' })
    await ledger.getByRole('cell', { name: '+12.5' }).waitFor()
    await section('Balance').getByLabel('Credit').fill('-2.5')
    await section('Balance').getByRole('button', { name: 'Take back' }).click()
    await section('Balance').getByText('10 credits left').waitFor()
    await ledger.getByRole('cell', { name: '−2.5' }).waitFor()
    await section('Balance').getByRole('button', { name: 'Lift the limit…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Lift the limit' }).click()
    await section('Balance').getByText('No limit').waitFor()
    t.pass()
  })
})
