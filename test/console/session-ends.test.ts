/**
 * A session that ends, and a server that restarts, under an open page: typed text is kept, the next
 * user sees nothing of it, and the page says what happened.
 */
import { consoleTest } from '../helpers/console.js'

/** In the page: what can be seen or clicked while the sign-in form is open. */
const seen = `(() => {
  const cover = document.querySelector('.dialog-covers')
  const { backgroundColor } = getComputedStyle(cover, '::backdrop')
  const ground = getComputedStyle(document.body).backgroundColor
  if (backgroundColor !== ground || /rgba|\\//.test(ground)) return [backgroundColor]
  return [...document.querySelectorAll('main *, nav *, dialog:not(.dialog-covers) *')].filter((one) => {
    const { left, top, width, height } = one.getBoundingClientRect()
    return document.elementFromPoint(left + width / 2, top + height / 2) === one
  }).map(({ outerHTML }) => outerHTML.slice(0, 80))
})()`

consoleTest('a session that ends under an open page', {}, async (t, console) => {
  const { page } = console
  const dialog = (name: string | RegExp) => page.getByRole('dialog', { name })
  const again = dialog('Your session has ended')
  const focused = () => page.evaluate<string>('document.activeElement.outerHTML')
  console.expect(/status of 401/)
  await console.signInFirst()
  await console.open('keys', 'API keys')

  await t.test('keeps the text of a dialog, and does not submit it', async (t) => {
    await page.getByRole('button', { name: 'Create key' }).click()
    const form = dialog('Create key')
    await form.getByLabel('Name').fill('invoices')
    await form.getByLabel('Expires').selectOption('In 90 days')
    await console.endSession()
    await form.getByRole('button', { name: 'Create key' }).click()
    await again.waitFor()
    t.match(await focused(), /type="password"/, 'the focus is on the password')
    t.strictSame(await page.evaluate(seen), [], 'nothing of the page is seen')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    t.ok(await again.isVisible(), 'it cannot be sent away')
    await console.signIn('wrong horse battery')
    await again.getByRole('alert').getByText('The password is wrong').waitFor()
    await console.signIn()
    await again.waitFor({ state: 'detached' })
    await form.getByRole('alert').getByText('nothing was done. Try again.').waitFor()
    t.equal(await form.getByLabel('Name').inputValue(), 'invoices')
    t.match(await focused(), /Create key/, 'the focus is where it was')
    const { keys } = await console.admin<{ keys: { name: string }[] }>('GET', '/keys')
    t.equal(keys.length, 1, 'no key is made yet')
    await form.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('API key', { exact: true }).waitFor()
  })

  await t.test('keeps a secret that is shown only once', async (t) => {
    const secret = await page.getByLabel('API key', { exact: true }).inputValue()
    await console.endSession()
    // As if another tab had noticed.
    await page.evaluate("window.dispatchEvent(new StorageEvent('storage', { key: 'oi-session' }))")
    await again.waitFor()
    await console.signIn()
    await again.waitFor({ state: 'detached' })
    t.equal(await page.getByLabel('API key', { exact: true }).inputValue(), secret)
    await page.getByRole('button', { name: 'I have copied it' }).click()
  })

  await t.test('a list that was loading appears after the sign-in', async (t) => {
    await console.endSession()
    await page.getByRole('link', { name: 'Audit' }).click()
    await again.waitFor()
    await console.signIn()
    await page.getByRole('table', { name: /Audit/ }).getByText('invoices').first().waitFor()
    t.equal(await page.getByRole('alert').count(), 0)
  })

  await t.test('a request of the playground gets no answer, and can be run again', async (t) => {
    await console.open('playground', 'Playground')
    await page.locator('.examples').getByRole('button', { name: 'Choice' }).click()
    await page.getByLabel('State, a text').fill('My own words.')
    await console.settle()
    await console.endSession()
    await page.keyboard.press('Control+Enter')
    await again.waitFor()
    await console.signIn()
    const answers = page.getByRole('region', { name: 'Answers' })
    await answers.getByText('nothing was done. Try again.').waitFor()
    t.equal(await page.getByLabel('State, a text').inputValue(), 'My own words.')
    await page.keyboard.press('Control+Enter')
    await answers.getByRole('article', { name: 'Answer to team' }).waitFor()
  })

  await t.test('a download waits for the sign-in', async (t) => {
    await console.open('usage?by=key&range=30d', 'Usage')
    await console.settle()
    await console.endSession()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    await again.waitFor()
    await console.signIn()
    t.equal((await download).suggestedFilename(), 'oi-usage-by-key-per-day.csv')
  })

  await t.test('two tabs are signed out and in together', async (t) => {
    const other = await console.context.newPage()
    await other.goto(console.server.url('/console#/workspaces'))
    await other.getByRole('button', { name: 'Create workspace' }).click()
    await other.getByRole('dialog').getByLabel('Name').fill('typed in the other tab')
    await page.getByRole('button', { name: 'Sign out' }).click()
    // The page says what the sign-out forgets.
    await dialog('Sign out').getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const covered = other.getByRole('dialog', { name: 'Your session has ended' })
    await covered.waitFor()
    t.strictSame(await other.evaluate(seen), [], 'nothing of the page is seen')
    await console.signIn()
    await covered.waitFor({ state: 'detached' })
    const form = other.getByRole('dialog', { name: 'Create workspace' })
    t.equal(await form.getByLabel('Name').inputValue(), 'typed in the other tab')
    await form.getByRole('button', { name: 'Create workspace' }).click()
    await other.getByRole('heading', { name: 'typed in the other tab', level: 1 }).waitFor()
    await other.close()
  })

  await t.test('the next user after a sign-out sees nothing that was written', async (t) => {
    await console.open('playground', 'Playground')
    t.notMatch(await page.locator('main').innerText(), 'My own words.')
    // The request that everybody meets first.
    t.match(await page.getByLabel('State, a text').inputValue(), 'Ticket 4711')
  })

  await t.test('a restarted server finds a dialog unchanged', async (t) => {
    console.expect(/ERR_/)
    await console.open('keys', 'API keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const form = dialog('Create key')
    await form.getByLabel('Name').fill('after the restart')
    await console.restart(t, async () => {
      await form.getByRole('button', { name: 'Create key' }).click()
      await form.getByRole('alert').getByText('The server does not answer.').waitFor()
    })
    await form.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('API key', { exact: true }).waitFor()
    t.equal(await again.count(), 0, 'sessions outlive the server')
  })
})
