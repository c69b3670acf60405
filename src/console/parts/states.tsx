/**
 * States of a page without data: empty, loading, or failed.
 *
 * @module
 */

import type { ComponentChildren } from 'preact'
import { counted } from '../format.js'
import type { ApiError } from '../server.js'
import type { Loaded } from '../use-load.js'
import { Button } from './button.js'
import { Icon, type IconName } from './icons.js'

interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

/** Grey lines in place of data, shown only if loading takes noticeably long. */
export function Loading({ lines = 6 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} class="skeleton-line" />
      ))}
    </div>
  )
}

export function Failed({ error, retry }: { error: ApiError; retry?: () => void }) {
  const gone = error.status === 0
  // A retry does not help if something does not exist.
  const again = error.status === 404 ? undefined : retry
  return (
    <div class="empty failed" role="alert">
      <span class="empty-icon">
        <Icon name="warn" />
      </span>
      <p class="empty-title">{gone ? 'The server does not answer' : error.message}</p>
      {gone && <p>Nothing can be shown until it does. It is asked again every few seconds.</p>}
      {!gone && error.code !== 'unknown' && <p class="mono">{error.code}</p>}
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  )
}

interface LoadedPartProps<T> {
  readonly of: Loaded<T>
  readonly children: (data: T) => ComponentChildren
}

/** Shows data, or why there is none. Older data stays while newer loads. */
export function LoadedPart<T>({ of, children }: LoadedPartProps<T>) {
  if (of.data !== undefined) {
    return (
      <div aria-busy={of.loading}>
        {of.error && of.error.status !== 0 && <ErrorNote error={of.error} />}
        {children(of.data)}
      </div>
    )
  }
  if (of.error !== undefined) return <Failed error={of.error} retry={of.reload} />
  return <Loading />
}

/** The error of an action. */
export function ErrorNote({ error }: { readonly error: ApiError | undefined }) {
  if (error === undefined) return null
  const wait = error.retryAfter
  return (
    <BadNote>
      {error.message}
      {wait !== undefined && ` Try again in ${counted(wait, 'second')}.`}
    </BadNote>
  )
}

/** What has gone wrong, read out at once. */
export function BadNote({ children }: { readonly children: ComponentChildren }) {
  return (
    <p class="note note-bad" role="alert">
      <Icon name="warn" />
      <span>{children}</span>
    </p>
  )
}
