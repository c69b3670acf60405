/** Who may sign in, and who may not. */
import { consoleTest } from '../helpers/console.js'

consoleTest('passwords, links and sessions', {}, async (t, console) => {
  const { page } = console

  await t.test('a first password that is too short, or mistyped, is not sent', async (t) => {
    await page.goto(console.server.url(console.firstLink))
    await page.getByLabel('New password').fill('short')
    await page.getByLabel('Repeat the password').fill('other')
    await page.getByRole('button', { name: 'Set password and sign in' }).click()
    await page.getByText('At least 12 characters; these are 5.').waitFor()
    await page.getByText('The two are not the same.').waitFor()
    t.equal(await page.getByLabel('New password').getAttribute('aria-invalid'), 'true')
  })

  await t.test('after a sign-out, only the right password signs in again', async (t) => {
    await console.signInFirst()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    console.expect(/status of 401/)
    await console.signIn('wrong horse battery')
    await page.getByRole('alert').getByText('The password is wrong').waitFor()
    await console.signIn()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    t.pass('a reload keeps the session')
  })

  await t.test('a link works once', async (t) => {
    await page.goto('about:blank')
    await page.goto(console.server.url(console.firstLink))
    await page.getByLabel('New password').fill('another good password')
    await page.getByLabel('Repeat the password').fill('another good password')
    await page.getByRole('button', { name: 'Set password and sign in' }).click()
    await page.getByRole('alert').getByText('The link is wrong or has expired').waitFor()
    t.pass()
  })

  await t.test('a tab works on after another tab has signed out and in again', async (t) => {
    await console.open('models', 'Models')
    const other = await console.context.newPage()
    await other.goto(console.server.url('/console#/keys'))
    await other.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await console.signIn()
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
    console.expect(/status of 403/)
    await other.getByRole('button', { name: 'Create key' }).click()
    await other.getByLabel('Name').fill('of the other tab')
    await other.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await other.getByLabel('API key', { exact: true }).waitFor()
    await other.close()
    t.pass()
  })

  await t.test('a user who guesses has to wait', async (t) => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    console.expect(/status of 429/)
    const alert = page.getByRole('alert')
    for (let tries = 0; tries < 8; tries++) {
      await console.signIn(`wrong password ${tries}`)
      await page.getByRole('button', { name: 'Sign in', exact: true }).isEnabled()
      await alert.waitFor()
      if (/Too many/.test((await alert.textContent()) ?? '')) break
    }
    t.match(await alert.textContent(), /Too many wrong passwords: try again in \d+ seconds?/)
  })
})
