/** Debian's Chromium, driven by Playwright. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'tap'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) =>
  existsSync(path),
)

/** Why tests in a browser are skipped; false if Chromium is installed. */
export const skip = executablePath === undefined && 'Chromium is not installed (Debian: chromium)'

/** Starts the browser; it ends with the test. */
export async function openBrowser(t: Test): Promise<Browser> {
  // Chromium has no sandbox for root.
  const args = ['--no-sandbox']
  const browser = await chromium.launch({ executablePath: executablePath!, args })
  t.teardown(() => browser.close())
  return browser
}
