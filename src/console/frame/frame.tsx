/**
 * The frame of every page: navigation, the server's status, and signing out.
 *
 * @module
 */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { duration } from '../format.js'
import { Button } from '../parts/button.js'
import { FormDialog } from '../parts/dialog.js'
import { Icon, type IconName } from '../parts/icons.js'
import { keepFocus } from '../parts/keep-focus.js'
import { Status } from '../parts/small.js'
import { ErrorNote } from '../parts/states.js'
import { Toast } from '../parts/toast.js'
import { call, goneSince, session } from '../server.js'
import { forgetKept, hasKept, useStore } from '../store.js'
import { asApiError, useAction, useRefreshed } from '../use-load.js'
import type { Server } from '../wire.js'
import { Brand } from './brand.js'
import { keepTheme, readTheme, type Theme } from './theme.js'

interface Entry {
  readonly page: string
  readonly name: string
  readonly icon: IconName
}

interface Group {
  /** Undefined: the first, which needs none. */
  readonly name?: string
  readonly entries: readonly Entry[]
}

const groups: readonly Group[] = [
  { entries: [{ page: 'overview', name: 'Overview', icon: 'overview' }] },
  {
    name: 'Access',
    entries: [
      { page: 'keys', name: 'API keys', icon: 'key' },
      { page: 'workspaces', name: 'Workspaces', icon: 'workspaces' },
      { page: 'usage', name: 'Usage', icon: 'usage' },
    ],
  },
  {
    name: 'Try',
    entries: [
      { page: 'playground', name: 'Playground', icon: 'play' },
      { page: 'compare', name: 'Compare', icon: 'compare' },
    ],
  },
  {
    name: 'Server',
    entries: [
      { page: 'models', name: 'Models', icon: 'models' },
      { page: 'settings', name: 'Settings', icon: 'settings' },
      { page: 'audit', name: 'Audit', icon: 'audit' },
    ],
  },
]

interface FrameProps {
  readonly page: string
  readonly name: string | undefined
  readonly children: ComponentChildren
}

export function Frame({ page, name, children }: FrameProps) {
  const [open, setOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const menu = useRef<HTMLButtonElement>(null)
  const shown = useRef(`${page}/${name ?? ''}`)
  useEffect(() => keepFocus(main.current!), [])
  useEffect(() => {
    const now = `${page}/${name ?? ''}`
    if (shown.current === now) return
    shown.current = now
    setOpen(false)
    window.scrollTo(0, 0)
    // Screen readers announce the new page.
    main.current?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  }, [page, name])
  return (
    <div class="frame">
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to content
      </a>
      <header
        class="side"
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || !open) return
          setOpen(false)
          menu.current?.focus()
        }}
      >
        <div class="side-top">
          <a class="home" href="#/overview" aria-label="oi console">
            <Brand />
          </a>
          <button
            ref={menu}
            type="button"
            class="button-quiet menu-button"
            aria-expanded={open}
            aria-controls="side"
            aria-label="Menu"
            onClick={() => setOpen(!open)}
          >
            <Icon name={open ? 'close' : 'menu'} />
          </button>
        </div>
        <div id="side" class={open ? 'side-body side-open' : 'side-body'}>
          <nav aria-label="Pages">
            {groups.map((group) => (
              <div key={group.name ?? 'first'} class="nav-group">
                {group.name !== undefined && <p class="nav-title">{group.name}</p>}
                <ul>
                  {group.entries.map((entry) => (
                    <li key={entry.page}>
                      <a
                        href={`#/${entry.page}`}
                        aria-current={entry.page === page ? 'page' : undefined}
                        onClick={() => setOpen(false)}
                      >
                        <Icon name={entry.icon} />
                        {entry.name}
                      </a>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </nav>
          <Foot />
        </div>
      </header>
      <main id="content" ref={main} tabIndex={-1}>
        <Gone />
        {children}
      </main>
      <Toast />
    </div>
  )
}

/** The notice that shown data may be old. */
function Gone() {
  const since = useStore(goneSince)
  return (
    <div aria-live="assertive">
      {since !== undefined && (
        <p class="note note-bad gone">
          <Icon name="warn" />
          <span>
            The server has not answered since {new Date(since).toISOString().slice(11, 19)} UTC.
            Shown data may be old; changes cannot be made.
          </span>
        </p>
      )}
    </div>
  )
}

const states = {
  ready: { tone: 'good', text: 'Ready' },
  loading: { tone: 'warn', text: 'Loading models' },
  failed: { tone: 'bad', text: 'Failed' },
  closing: { tone: 'warn', text: 'Closing' },
} as const

/** Interval of status requests, milliseconds. */
const statusMs = 15_000

function Foot() {
  const { data } = useRefreshed<Server>('/server', statusMs)
  const since = useStore(goneSince)
  const [theme, setTheme] = useState<Theme>(readTheme)
  const [leaving, setLeaving] = useState(false)
  const signOut = useAction(async () => {
    try {
      await call('/session', { method: 'DELETE', ofSession: true })
    } catch (error) {
      // The session has ended already.
      if (asApiError(error).code !== 'invalid_session') throw error
    }
    forgetKept()
    session.set(null)
  })
  const state =
    since !== undefined ? ({ tone: 'bad', text: 'No answer' } as const) : data && states[data.state]
  return (
    <div class="foot">
      {state && (
        <p class="foot-status">
          <Status tone={state.tone}>{state.text}</Status>
          {data && (
            <span class="faint">
              {data.version} · up {duration(data.uptime_seconds)}
            </span>
          )}
        </p>
      )}
      {data?.accounts.trouble && <p class="field-error">Accounts: {data.accounts.trouble}</p>}
      <div class="foot-row">
        <label>
          <span class="visually-hidden">Colours</span>
          <select
            class="small"
            value={theme}
            onChange={(event) => {
              const next = event.currentTarget.value as Theme
              setTheme(next)
              keepTheme(next)
            }}
          >
            <option value="system">System</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <Button
          small
          busy={signOut.busy}
          onClick={() => (hasKept() ? setLeaving(true) : void signOut.run())}
        >
          Sign out
        </Button>
      </div>
      {leaving && (
        <FormDialog
          title="Sign out"
          deed="Sign out"
          action={signOut}
          onClose={() => setLeaving(false)}
        >
          <p>
            Your texts in the playground and in Compare are forgotten: whoever signs in next in this
            tab does not see it.
          </p>
        </FormDialog>
      )}
      {!leaving && <ErrorNote error={signOut.error} />}
    </div>
  )
}
