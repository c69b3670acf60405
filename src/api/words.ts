/**
 * Words for messages: counts, sizes, commands to paste, the name that was probably meant.
 *
 * @module
 */

/** `1 key`, `2 keys`. */
export function counted(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? '' : 's'}`
}

/** Bytes for people: `1.20 GB`, `340.0 MB`. */
export function sizeText(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB` : `${(bytes / 1e6).toFixed(1)} MB`
}

/** A text as one word of a shell's command line: quoted, unless it needs no quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** The same as an argument, which must not look like a flag: it goes to the end of the line. */
export function shellArgument(text: string): string {
  return `${text.startsWith('-') ? '-- ' : ''}${shellWord(text)}`
}

/**
 * The known name that a misspelt name probably means.
 *
 * @param known - At least one. @returns The name with the fewest edits, the earliest on a tie.
 */
export function nearestOf(name: string, known: readonly string[]): string {
  return known.toSorted((a, b) => distance(name, a) - distance(name, b))[0]!
}

/** As {@link nearestOf}, if it is near: a few edits, of less than half of the name. */
export function nearOf(name: string, known: readonly string[]): string | undefined {
  const nearest = nearestOf(name, known)
  const edits = distance(name, nearest)
  return edits <= 3 && edits < name.length / 2 ? nearest : undefined
}

/** Edits (insert, delete, replace) that turn a into b; one row of the table at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
