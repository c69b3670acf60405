/** Rules for every page: size, accessibility, a lost server. */
import t from 'tap'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from '../../scripts/build/paths.js'
import { type ConsoleTest, consolePages, consoleTest } from '../helpers/console.js'

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

/** In the page: faults, and their places. */
const runAxe = `axe.run(document).then(({ violations }) => violations.map(
  ({ id, nodes }) => id + ': ' + nodes.map((node) => node.html + ' ' + node.failureSummary).join(' | '),
))`

t.test('the whole console is at most 300 KB compressed', async (t) => {
  const folder = join(root, 'dist', 'src', 'console')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && ['.html', '.js', '.css', '.svg'].includes(extname(entry.name)),
  )
  const bytes = files.map(
    ({ parentPath, name }) => gzipSync(readFileSync(join(parentPath, name))).length,
  )
  const sum = bytes.reduce((sum, length) => sum + length, 0)
  t.ok(sum > 10_000 && sum <= 300_000, `${sum} bytes`)
})

consoleTest(
  'every page is accessible, empty and filled, light, dark and narrow',
  {},
  async (t, console) => {
    const { page } = console
    const violations = async () => {
      await page.evaluate(axeSource)
      return page.evaluate<string[]>(runAxe)
    }
    await page.goto(console.server.url(console.firstLink))
    await page.getByRole('heading', { name: 'Set the password' }).waitFor()
    t.strictSame(await violations(), [], 'first sign-in')
    await console.signInFirst()
    const check = async (look: string) => {
      for (const [address, heading] of consolePages) {
        await console.open(address, heading)
        await console.settle()
        t.strictSame(await violations(), [], `${address}, ${look}`)
      }
    }
    await check('empty, light')
    await fill(console)
    await page.emulateMedia({ colorScheme: 'dark' })
    await check('filled, dark')
    await console.open('playground', 'Playground')
    for (const example of ['Choice', 'Score']) {
      await page.locator('.examples').getByRole('button', { name: example }).click()
      await page.keyboard.press('Control+Enter')
      await page.locator('.verdict').waitFor()
      t.strictSame(await violations(), [], `an answer: ${example}`)
    }
    await console.open('keys', 'API keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    t.strictSame(await violations(), [], 'a dialog')
    await page.keyboard.press('Escape')
    await page
      .getByRole('button', { name: /^More actions/ })
      .first()
      .click()
    t.strictSame(await violations(), [], 'a menu')
    await page.setViewportSize({ width: 360, height: 740 })
    for (const [address, heading] of consolePages) {
      await console.open(address, heading)
      await console.settle()
      t.strictSame(await violations(), [], `${address}, narrow`)
    }
    const menu = page.getByRole('button', { name: 'Menu' })
    await menu.click()
    await page.getByRole('link', { name: 'Audit' }).focus()
    t.strictSame(await violations(), [], 'the menu of pages, narrow')
    await page.keyboard.press('Escape')
    t.equal(await menu.getAttribute('aria-expanded'), 'false')
    t.ok(await menu.evaluate((one) => one === one.ownerDocument.activeElement))
  },
)

consoleTest('a lost server is reported, and found again', {}, async (t, console) => {
  const { page, context } = console
  await console.signInFirst()
  console.expect(/ERR_INTERNET_DISCONNECTED/)
  await context.setOffline(true)
  await page.getByRole('link', { name: 'Models' }).click()
  await page.getByRole('alert').getByText('The server does not answer').waitFor()
  await page.getByText(/The server has not answered since \d\d:\d\d:\d\d UTC/).waitFor()
  await context.setOffline(false)
  await page.getByRole('link', { name: 'oi-small' }).waitFor()
  await page.getByText(/The server has not answered/).waitFor({ state: 'detached' })
  t.pass()
})

async function fill(console: ConsoleTest): Promise<void> {
  const { id } = await console.admin<{ id: number }>('POST', '/workspaces', {
    name: 'shop',
    budget: { tokens: 1000, period: 'month' },
  })
  await console.admin('POST', `/workspaces/${id}/credit`, { amount: 5_000_000 })
  await console.admin('PUT', '/prices', { model: 'oi-small', input: 150_000, output: 600_000 })
  const body = { workspace_id: id, name: 'till', models: ['oi-small'] }
  const { secret } = await console.admin<{ secret: string }>('POST', '/keys', body)
  for (let i = 0; i < 3; i++) await console.ask(secret)
  await console.admin('PATCH', '/keys/1', { blocked: true })
}
