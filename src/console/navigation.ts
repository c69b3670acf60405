/**
 * Pages by the fragment of the address: `#/workspaces/3?before=…`. The server never sees it.
 *
 * @module
 */

import { Store, useStore } from './store.js'

export interface Place {
  /** `['workspaces', '3']`. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
  /** The token of a one-time link, `#first=TOKEN`. */
  readonly first: string | undefined
}

const place = new Store<Place>(read())
window.addEventListener('hashchange', () => place.set(read()))

export function usePlace(): Place {
  return useStore(place)
}

export function goTo(address: string): void {
  window.location.hash = address
}

/** Changes the query of the present page, and adds nothing to the history. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { parts, query } = place.value
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  const text = next.toString()
  const address = parts.map(encodeURIComponent).join('/')
  window.history.replaceState(null, '', `#/${address}${text === '' ? '' : `?${text}`}`)
  place.set(read())
}

/** Removes the token from the address, so that no history keeps it. */
export function forgetFirst(): void {
  window.history.replaceState(null, '', '#/')
  place.set(read())
}

function read(): Place {
  const text = window.location.hash.slice(1)
  const first = text.startsWith('first=') ? decodePart(text.slice('first='.length)) : undefined
  const [path = '', query = ''] = text.split('?', 2)
  const parts = path.split('/').filter(Boolean).map(decodePart)
  return { parts: first === undefined ? parts : [], query: new URLSearchParams(query), first }
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
