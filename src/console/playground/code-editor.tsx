/**
 * A field for JSON with colours, which marks a mistake at its place while the user types. The
 * colours are in a copy of the text behind the field.
 *
 * @module
 */

import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import type { Mistake } from './json-text.js'

interface CodeEditorProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly mistake: Mistake | undefined
  readonly rows?: number
}

export function CodeEditor({ label, value, onValue, mistake, rows = 10 }: CodeEditorProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const noteId = `${id}-note`
  const goThere = () => {
    const { current } = field
    if (current === null || mistake?.at === undefined) return
    current.focus()
    current.setSelectionRange(mistake.at, Math.min(value.length, mistake.at + 1))
  }
  return (
    <div class={mistake ? 'editor editor-bad' : 'editor'}>
      <div class="editor-text">
        <pre aria-hidden="true">
          {coloured(value, mistake?.at)}
          {'\n'}
        </pre>
        <textarea
          ref={field}
          aria-label={label}
          aria-describedby={noteId}
          aria-invalid={mistake ? true : undefined}
          spellcheck={false}
          autocomplete="off"
          rows={rows}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      </div>
      <div id={noteId} class="editor-note" aria-live="polite">
        {mistake && value.trim() !== '' && (
          <button type="button" class="field-error link" onClick={goThere}>
            {mistake.message}
          </button>
        )}
      </div>
    </div>
  )
}

/** Beyond this length, colouring would slow typing noticeably. */
const mostColoured = 50_000
const token = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g

function coloured(text: string, at: number | undefined): ComponentChildren {
  if (at === undefined) return text.length > mostColoured ? text : colours(text)
  // A missing character is marked at the character before its place.
  const place = Math.max(0, Math.min(at, text.length - 1))
  const isBreak = text[place] === '\n' || text[place] === undefined
  return [
    text.length > mostColoured ? text.slice(0, place) : colours(text.slice(0, place)),
    <mark>{isBreak ? ` ${text[place] ?? ''}` : text[place]}</mark>,
    text.slice(place + 1),
  ]
}

function colours(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = []
  let end = 0
  for (const match of text.matchAll(token)) {
    if (match.index > end) parts.push(text.slice(end, match.index))
    const [whole, string, colon] = match
    if (string === undefined) parts.push(<span class="json-value">{whole}</span>)
    else if (colon === undefined) parts.push(string)
    else parts.push(<span class="json-name">{string}</span>, colon)
    end = match.index + whole.length
  }
  parts.push(text.slice(end))
  return parts
}
