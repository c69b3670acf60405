/**
 * Messages about finished actions, shown for a while at the edge of the page and read out by screen
 * readers.
 *
 * @module
 */

import { useEffect } from 'preact/hooks'
import { Store, useStore } from '../store.js'
import { Icon } from './icons.js'

const said = new Store<{ readonly text: string } | undefined>(undefined)
const shownMs = 6000

/** @param text - A sentence, as `The limits are saved.` */
export function say(text: string): void {
  said.set({ text })
}

export function Toast() {
  const now = useStore(said)
  useEffect(() => {
    if (now === undefined) return
    const timer = setTimeout(() => said.set(undefined), shownMs)
    return () => clearTimeout(timer)
  }, [now])
  // The region exists before its text: only then is the text read out.
  return (
    <div class="toast-place" role="status">
      {now && (
        <p class="toast">
          <Icon name="check" />
          <span>{now.text}</span>
        </p>
      )}
    </div>
  )
}
