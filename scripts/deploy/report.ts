/**
 * The findings of a check, line by line.
 *
 * @module
 */

export interface Ended {
  readonly status: number | null
  /** Standard output, then standard error. */
  readonly output: string
}

export class Report {
  failed = 0

  ok(what: string): void {
    console.log(`ok      ${what}`)
  }

  /** @param seen - Shown on failure. */
  check(what: string, holds: boolean, seen: string): void {
    if (holds) return this.ok(what)
    this.failed++
    console.log(`FAIL    ${what}\n${seen.replace(/^(?=.)/gm, '          ')}`)
  }

  /** A command that must end with 0. @param more - Shown on failure, too. */
  runs(what: string, { status, output }: Ended, more = ''): void {
    this.check(what, status === 0, output + more)
  }

  /** A command whose output must match. */
  says(what: string, { output }: Ended, pattern: RegExp): void {
    this.check(what, pattern.test(output), output)
  }

  note(text: string): void {
    console.log(`        ${text}`)
  }

  /** A check that this machine cannot run. */
  skip(what: string, why: string): void {
    console.log(`skipped ${what}: ${why}`)
  }
}
