/**
 * The one-time link of the first start: sets the password, and signs in.
 *
 * @module
 */

import { useEffect, useRef } from 'preact/hooks'
import { forgetFirst, goTo } from '../navigation.js'
import { Button } from '../parts/button.js'
import { FormIn } from '../parts/dialog.js'
import { call, session } from '../server.js'
import { useAction } from '../use-load.js'
import type { Session } from '../wire.js'
import { Brand } from './brand.js'
import { useNewPassword } from './new-password.js'

export function FirstSignIn({ token }: { readonly token: string }) {
  const { fields, take } = useNewPassword('Repeat the password')
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => {
    document.title = 'First sign-in – oi console'
    form.current?.querySelector('input')?.focus()
  }, [])
  const setFirst = useAction(async () => {
    const password = take()
    if (password === undefined) return
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
          {fields}
          <Button kind="main" busy={setFirst.busy}>
            Set password and sign in
          </Button>
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
