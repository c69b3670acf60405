/**
 * SQL as connection.ts has it, in PostgreSQL's words: `$1` for `?`, and names of columns that keep
 * their capitals.
 *
 * @module
 */

const texts = new Map<string, string>()

export function toPostgres(sql: string): string {
  let text = texts.get(sql)
  if (text === undefined) {
    let number = 0
    text = sql.replace(
      /'[^']*'|\?|\bAS ([a-z]+[A-Z]\w*)/g,
      (match: string, name: string | undefined) =>
        match === '?' ? `$${++number}` : name === undefined ? match : `AS "${name}"`,
    )
    texts.set(sql, text)
  }
  return text
}
