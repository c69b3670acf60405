/** The life of a key, from the link of the first start to its revocation, in a browser. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type ConsoleTest, consoleTest } from '../helpers/console.js'

const run = promisify(execFile)

/** An application's first request, made by hand. */
async function curl({ server }: ConsoleTest, key: string): Promise<unknown> {
  const body = {
    state: 'It is 23:59.',
    questions: { late: { type: 'noul', instructions: 'Late?' } },
  }
  const { stdout } = await run('curl', [
    ...['--silent', '--fail-with-body', server.url('/v1/systemone')],
    ...['--header', `Authorization: Bearer ${key}`, '--json', JSON.stringify(body)],
  ])
  return JSON.parse(stdout) as unknown
}

consoleTest('a key is made, used, rotated, blocked and revoked', {}, async (t, console) => {
  const { page } = console
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  const choose = async (name: string, deed: string) => {
    await page
      .getByRole('button', { name: `More actions for key ${name}` })
      .first()
      .click()
    await page.getByRole('menuitem', { name: deed }).click()
    await page.getByRole('button', { name: `${deed.replace('…', '')} key`, exact: true }).click()
  }
  const readSecret = async () => {
    const secret = await page.getByLabel('API key', { exact: true }).inputValue()
    const command = await page.getByRole('region', { name: 'Command' }).innerText()
    t.match(await run('sh', ['-c', `${command} --silent`]), { stdout: /"oi-small"/ })
    await page.getByRole('button', { name: 'I have copied it' }).click()
    return secret
  }

  await console.signInFirst()
  await console.open('keys', 'API keys')
  t.notMatch(page.url(), /first=/, 'the link is not left in the address')
  // The first start has made a workspace and a key.
  await row('default').first().waitFor()

  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name').fill('invoices')
  await page.getByLabel('Expires').selectOption('In 30 days')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  const first = await readSecret()
  t.match(first, /^oi-[\w-]{43}$/)
  t.notOk((await page.content()).includes(first), 'the secret is shown once')
  await row('invoices').getByText('in 29 days').waitFor()
  t.match(await curl(console, first), { answers: { late: { type: 'noul' } } })

  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByText('Key', { exact: true }).click()
  const used = page.getByRole('table', { name: 'Usage by key' }).getByRole('row')
  while ((await used.filter({ hasText: 'invoices' }).count()) === 0) {
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.waitForTimeout(200)
  }
  await used.filter({ hasText: 'invoices' }).getByText('1', { exact: true }).first().waitFor()

  await page.getByRole('link', { name: 'API keys' }).click()
  await choose('invoices', 'Rotate…')
  const second = await readSecret()
  t.not(second, first)
  t.equal(await console.ask(first), 200, 'the old one works for the while')
  t.equal(await console.ask(second), 200, 'and so does the new one')

  // The newest is first.
  await choose('invoices', 'Block…')
  await row('invoices').getByText('Blocked').waitFor()
  t.equal(await console.ask(second), 401)
  t.equal(await console.ask(first), 200, 'it alone is blocked')
  await choose('invoices', 'Unblock…')
  await row('invoices').getByText('Blocked').waitFor({ state: 'detached' })
  t.equal(await console.ask(second), 200)

  await page.getByRole('button', { name: 'Edit key invoices' }).first().click()
  await page.getByLabel('Name').fill('payments')
  await page.getByRole('button', { name: 'Save' }).click()
  await row('payments').waitFor()

  await choose('payments', 'Revoke…')
  await row('payments').waitFor({ state: 'detached' })
  t.equal(await console.ask(second), 401)
  await page.getByLabel('State').selectOption('Revoked')
  await row('payments').waitFor()

  await page.getByRole('link', { name: 'Audit' }).click()
  for (const action of ['key.create', 'key.rotate', 'key.revoke']) {
    await page.getByRole('cell', { name: action }).first().waitFor()
  }
})
