/**
 * Buttons that insert an example, and one that undoes it.
 *
 * @module
 */

import { Button } from '../parts/button.js'
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
        <Button small key={example.title} onClick={() => onExample(example)}>
          {example.title}
        </Button>
      ))}
      {onUndo && (
        <Button small onClick={onUndo}>
          Undo
        </Button>
      )}
    </div>
  )
}
