/**
 * What can be done with a request.
 *
 * @module
 */

import { Button } from '../parts/button.js'

interface RunBarProps {
  readonly isRunning: boolean
  /** Why it cannot be sent. */
  readonly reason: string | undefined
  readonly isEmpty: boolean
  readonly hasImages: boolean
  readonly onRun: () => void
  readonly onStop: () => void
  readonly onCode: () => void
  readonly onLink: () => void
  readonly onCompare: () => void
}

export function RunBar(props: RunBarProps) {
  const { isRunning, reason, isEmpty, hasImages } = props
  const { onRun, onStop, onCode, onLink, onCompare } = props
  return (
    <div class="run-bar">
      {isRunning ? (
        <Button icon="stop" onClick={onStop}>
          Stop <kbd>Esc</kbd>
        </Button>
      ) : (
        <Button
          kind="main"
          icon="play"
          disabled={reason !== undefined}
          keys="Control+Enter"
          onClick={onRun}
        >
          Run <kbd>Ctrl ↵</kbd>
        </Button>
      )}
      <Button icon="code" disabled={reason !== undefined} onClick={onCode}>
        View code
      </Button>
      <Button disabled={reason !== undefined || hasImages} onClick={onLink}>
        Copy link
      </Button>
      <Button disabled={reason !== undefined || hasImages} onClick={onCompare}>
        Add to Compare
      </Button>
      {reason !== undefined && !isEmpty && <span class="hint">{reason}</span>}
    </div>
  )
}
