/**
 * What a check has found, line by line.
 *
 * @module
 */

export class Report {
  failed = 0

  ok(what: string): void {
    console.log(`ok      ${what}`)
  }

  /** @param seen - Shown if it does not hold. */
  check(what: string, holds: boolean, seen: string): void {
    if (holds) return this.ok(what)
    this.failed++
    console.log(`FAIL    ${what}\n${seen.replace(/^(?=.)/gm, '          ')}`)
  }

  note(text: string): void {
    console.log(`        ${text}`)
  }

  /** What this machine cannot do. */
  skip(what: string, why: string): void {
    console.log(`skipped ${what}: ${why}`)
  }
}
