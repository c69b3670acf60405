/**
 * Comma-separated values by RFC 4180.
 *
 * @module
 */

const plain = /[^,\r\n]*/y

/**
 * Rows of fields. A quoted field may hold commas, line breaks and doubled quotes.
 *
 * @throws Error naming the line of an unclosed quote.
 */
export function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    let field: string
    if (text[at] === '"') {
      const start = at
      field = ''
      for (;;) {
        const end = text.indexOf('"', at + 1)
        if (end === -1) {
          const line = text.slice(0, start).split('\n').length
          throw new Error(`line ${line}: expected the end of the quoted field`)
        }
        field += text.slice(at + 1, end)
        at = end + 1
        if (text[at] !== '"') break
        field += '"'
      }
    } else {
      plain.lastIndex = at
      plain.test(text)
      field = text.slice(at, plain.lastIndex)
      at = plain.lastIndex
    }
    row.push(field)
    if (text[at] === ',') {
      at++
      // After a final comma there is one more field, which is empty.
      if (at === text.length) row.push('')
      continue
    }
    if (text[at] === '\r') at++
    if (text[at] === '\n') at++
    rows.push(row)
    row = []
  }
  if (row.length > 0) rows.push(row)
  return rows
}
