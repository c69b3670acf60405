/**
 * The findings of a check, line by line.
 *
 * @module
 */

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

  note(text: string): void {
    console.log(`        ${text}`)
  }

  /** A check that this machine cannot run. */
  skip(what: string, why: string): void {
    console.log(`skipped ${what}: ${why}`)
  }
}
