/** How fast the console is there, with a thousand keys. */
import { fillAccounts, fullKeys } from '../helpers/full-accounts.js'
import { consoleTest } from '../helpers/console.js'

/** In the page: when something was painted first, and when the rows of its table were. */
const times = `new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve([
  performance.getEntriesByName('first-contentful-paint')[0].startTime, performance.now(),
]))))`

consoleTest(
  'with 1,000 keys the first paint comes within 200 ms',
  { prepare: fillAccounts },
  async (t, console) => {
    const { page } = console
    await console.signInFirst()
    await page.getByLabel('State').selectOption('All')
    await page.getByText(`1–50 of ${fullKeys.toLocaleString('en')}`).waitFor()
    const found: { paint: number; rows: number }[] = []
    for (let i = 0; i < 8; i++) {
      await page.reload({ waitUntil: 'commit' })
      await page.getByText('1–50 of').waitFor()
      const [paint, rows] = await page.evaluate<[number, number]>(times)
      found.push({ paint, rows })
    }
    for (const name of ['paint', 'rows'] as const) {
      const sorted = found.map((one) => one[name]).sort((a, b) => a - b)
      t.comment(`${name}: ${sorted.map((ms) => ms.toFixed(0)).join(', ')} ms`)
    }
    // The best of some: what else this machine does only adds.
    const best = Math.min(...found.map(({ paint }) => paint))
    t.ok(best < 200, `${best.toFixed(0)} ms`)
    await page.getByLabel('Search').fill(' 777')
    await page.getByRole('rowheader', { name: / 777 / }).waitFor()
  },
)
