/**
 * Data of a page: loaded when it appears, reloaded on request, and automatically while the server
 * does not answer.
 *
 * @module
 */

import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError, call } from './server.js'

interface State<T> {
  /** The last data, also while it is reloaded or after that has failed. */
  readonly data: T | undefined
  /** Where they are from. */
  readonly path: string | undefined
  /** Why the last attempt failed. */
  readonly error: ApiError | undefined
  readonly loading: boolean
}

export interface Loaded<T> extends State<T> {
  readonly reload: () => void
  /** Replaces the data by the reply to a change. */
  readonly put: (change: (data: T) => T) => void
}

const retryMs = 3000

/** @param path - Undefined loads nothing. */
export function useLoad<T>(path: string | undefined): Loaded<T> {
  const [turn, setTurn] = useState(0)
  const [state, setState] = useState<State<T>>({
    path: undefined,
    data: undefined,
    error: undefined,
    loading: path !== undefined,
  })
  const reload = useCallback(() => setTurn((turn) => turn + 1), [])
  const put = useCallback((change: (data: T) => T) => {
    setState((state) => (state.data ? { ...state, data: change(state.data) } : state))
  }, [])

  useEffect(() => {
    if (path === undefined) return
    const controller = new AbortController()
    let timer: number | undefined
    setState((state) => ({ ...state, loading: true }))
    call<T>(path, { signal: controller.signal })
      .then((data) => setState({ path, data, error: undefined, loading: false }))
      .catch((error: unknown) => {
        if (controller.signal.aborted) return
        const failure = asApiError(error)
        setState((state) => ({ ...state, error: failure, loading: false }))
        if (failure.status === 0) timer = window.setTimeout(reload, retryMs)
      })
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [path, turn, reload])

  return { ...state, reload, put }
}

/** Reloads data while the page is visible. */
export function useRefreshed<T>(path: string, everyMs = 5000) {
  const loaded = useLoad<T>(path)
  const { reload } = loaded
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [reload, everyMs])
  return loaded
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(0, 'unknown', error instanceof Error ? error.message : String(error))
}

export interface Action<Arguments extends unknown[]> {
  readonly busy: boolean
  readonly error: ApiError | undefined
  readonly run: (...args: Arguments) => Promise<void>
}

/** An action of the user: runs once at a time, and keeps its error. */
export function useAction<Arguments extends unknown[]>(
  act: (...args: Arguments) => Promise<void>,
): Action<Arguments> {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError | undefined>()
  const run = async (...args: Arguments) => {
    if (busy) return
    setBusy(true)
    setError(undefined)
    try {
      await act(...args)
    } catch (error) {
      setError(asApiError(error))
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, run }
}
