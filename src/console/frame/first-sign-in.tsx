/**
 * The one-time link of the first start: sets the password, and signs in.
 *
 * @module
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { forgetFirst, goTo } from '../navigation.js'
import { FormIn } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { call, session } from '../server.js'
import { useAction } from '../use-load.js'
import type { Session } from '../wire.js'
import { Brand } from './brand.js'
import { leastPassword, passwordMistakes } from './password.js'

export function FirstSignIn({ token }: { readonly token: string }) {
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [tried, setTried] = useState(false)
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => {
    document.title = 'First sign-in – oi console'
    form.current?.querySelector('input')?.focus()
  }, [])
  const mistakes = tried ? passwordMistakes(password, again) : {}
  const setFirst = useAction(async () => {
    setTried(true)
    if (Object.keys(passwordMistakes(password, again)).length > 0) return
    const body = { token, password }
    session.set(await call<Session>('/session/first', { method: 'POST', body, ofSession: true }))
    forgetFirst()
    goTo('/overview')
  })
  return (
    <main class="lone">
      <div class="card sign-in" ref={form}>
        <Brand />
        <h1>Set the password</h1>
        <p>
          This link works once. Whoever knows the password administers this server: keys, budgets,
          models.
        </p>
        <FormIn action={setFirst}>
          <TextField
            label="New password"
            value={password}
            onValue={setPassword}
            hint={`At least ${leastPassword} characters.`}
            error={mistakes.password}
            input={{ type: 'password', autocomplete: 'new-password' }}
          />
          <TextField
            label="Repeat the password"
            value={again}
            onValue={setAgain}
            error={mistakes.again}
            input={{ type: 'password', autocomplete: 'new-password' }}
          />
          <button type="submit" class="button button-main" aria-disabled={setFirst.busy}>
            Set password and sign in
          </button>
        </FormIn>
        <p class="hint">
          <a
            href="#/"
            onClick={(event) => {
              event.preventDefault()
              forgetFirst()
            }}
          >
            Sign in with a password that is set already
          </a>
        </p>
      </div>
    </main>
  )
}
