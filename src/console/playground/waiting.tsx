/**
 * What stands in place of answers: why there are none, or that they are waited for.
 *
 * @module
 */

import { useEffect, useState } from 'preact/hooks'
import { milliseconds } from '../format.js'
import { ErrorNote } from '../parts/states.js'
import type { ApiError } from '../server.js'

export function Refused({ error }: { readonly error: ApiError }) {
  return (
    <div class="refused">
      <ErrorNote error={error} />
      <p class="faint">
        {error.status > 0 && `Status ${error.status}, `}
        <span class="mono">{error.code}</span>
        {error.param !== undefined && (
          <>
            {' at '}
            <span class="mono">{error.param}</span>
          </>
        )}
      </p>
    </div>
  )
}

/** The waiting time, once it is worth showing. */
export function Waiting() {
  const [ms, setMs] = useState(0)
  useEffect(() => {
    const startMs = performance.now()
    const timer = setInterval(() => setMs(performance.now() - startMs), 100)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="empty" role="status">
      <span class="spinner" aria-hidden="true" />
      <p class="empty-title">Waiting for the model</p>
      <p aria-hidden="true" class="num">
        {ms >= 300 ? milliseconds(ms) : '\u00a0'}
      </p>
    </div>
  )
}
