/**
 * What has been done, said for a while at the edge of the page, also to whoever hears it.
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
  // The region stands there before its text does: only then is the text read out.
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
