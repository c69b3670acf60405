/**
 * Buttons that insert an example, and one that undoes it.
 *
 * @module
 */

import { type Example, examples } from './examples.js'

interface ExampleRowProps {
  readonly onExample: (example: Example) => void
  /** Undefined: no example has replaced anything. */
  readonly onUndo: (() => void) | undefined
}

export function ExampleRow({ onExample, onUndo }: ExampleRowProps) {
  return (
    <div class="row examples">
      <span class="hint">Examples:</span>
      {examples.map((example) => (
        <button
          key={example.title}
          type="button"
          class="button small"
          onClick={() => onExample(example)}
        >
          {example.title}
        </button>
      ))}
      {onUndo && (
        <button type="button" class="button small" onClick={onUndo}>
          Undo
        </button>
      )}
    </div>
  )
}
