/** Debian's Chromium, driven by Playwright. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'tap'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) =>
  existsSync(path),
)

/** Why tests in a browser are skipped; false where there is one. */
export const skip = executablePath === undefined && 'Chromium is not installed (Debian: chromium)'

/** Starts it; it ends with the test. */
export async function openBrowser(t: Test): Promise<Browser> {
  // A process that is no ordinary user's has no sandbox.
  const args = ['--no-sandbox']
  const browser = await chromium.launch({ executablePath: executablePath!, args })
  t.teardown(() => browser.close())
  return browser
}
