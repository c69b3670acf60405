/**
 * What can be done with a request.
 *
 * @module
 */

import { Icon } from '../parts/icons.js'

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
        <button type="button" class="button" onClick={onStop}>
          <Icon name="stop" />
          Stop <kbd>Esc</kbd>
        </button>
      ) : (
        <button
          type="button"
          class="button button-main"
          disabled={reason !== undefined}
          aria-keyshortcuts="Control+Enter"
          onClick={onRun}
        >
          <Icon name="play" />
          Run <kbd>Ctrl ↵</kbd>
        </button>
      )}
      <button type="button" class="button" disabled={reason !== undefined} onClick={onCode}>
        <Icon name="code" />
        View code
      </button>
      <button
        type="button"
        class="button"
        disabled={reason !== undefined || hasImages}
        onClick={onLink}
      >
        Copy link
      </button>
      <button
        type="button"
        class="button"
        disabled={reason !== undefined || hasImages}
        onClick={onCompare}
      >
        Add to Compare
      </button>
      {reason !== undefined && !isEmpty && <span class="hint">{reason}</span>}
    </div>
  )
}
