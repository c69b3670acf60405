/**
 * HTML and SVG templates: inserted values are escaped unless they are markup themselves.
 *
 * @module
 */

/** Made by {@link html} only. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Content = string | number | Markup | undefined | readonly Content[]

/** A template whose values are escaped; lists are joined, `undefined` is nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  let text = parts[0]!
  values.forEach((value, i) => (text += textOf(value) + parts[i + 1]!))
  return new Markup(text)
}

function textOf(value: Content): string {
  if (value === undefined) return ''
  if (value instanceof Markup) return value.text
  if (typeof value === 'object') return value.map(textOf).join('')
  return escape(String(value))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Also removes control characters, which HTML does not allow. */
function escape(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').replace(/[&<>"']/g, (c) => entities[c]!)
}
