/**
 * What every page has: one file, without network, scripts and fonts.
 *
 * @module
 */

import { html, Markup } from './markup.js'
import { style } from './style.js'

/** The text of a whole page. */
export function wholePage(title: string, body: Markup): string {
  return html`<!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${new Markup(style)}
        </style>
      </head>
      <body>
        ${body}
      </body>
    </html> `.text
}

/** A box of paragraphs; nothing without any. */
export function warningBox(texts: readonly string[]): Markup | undefined {
  if (texts.length === 0) return undefined
  return html`<div class="warning">${texts.map((text) => html`<p>${text}</p>`)}</div>`
}
