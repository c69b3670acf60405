/**
 * A value that several parts of the page share.
 *
 * @module
 */

import { useEffect, useState } from 'preact/hooks'

export class Store<T> {
  #value: T
  readonly #listeners = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of [...this.#listeners]) listener()
  }

  /** @returns A function that ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export function useStore<T>(store: Store<T>): T {
  const [, render] = useState({})
  useEffect(() => {
    const seen = store.value
    const end = store.subscribe(() => render({}))
    // The value changed between rendering and now.
    if (!Object.is(seen, store.value)) render({})
    return end
  }, [store])
  return store.value
}

/** State that survives a change of page and a reload, in this tab only. */
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => readKept(name, initial))
  const set = (next: T) => {
    setValue(next)
    keep(name, next)
  }
  return [value, set]
}

/** The state that {@link useKept} has on another page. */
export function readKept<T>(name: string, initial: T): T {
  try {
    const text = sessionStorage.getItem(name)
    return text === null ? initial : (JSON.parse(text) as T)
  } catch {
    return initial
  }
}

/** Sets the state that {@link useKept} will have on another page. */
export function keep(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(value))
  } catch {
    // Storage is full, as with images: the page works on without it.
    sessionStorage.removeItem(name)
  }
}

/** Whether anything is kept by {@link useKept}. */
export function hasKept(): boolean {
  try {
    return sessionStorage.length > 0
  } catch {
    return false
  }
}

/** Drops kept state, so that the next user sees nothing of the last one's. */
export function forgetKept(): void {
  try {
    sessionStorage.clear()
  } catch {
    // Storage is disabled: nothing is kept.
  }
}
