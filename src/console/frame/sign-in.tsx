/**
 * Signing in with the password: on its own page, or in front of the page whose session ended.
 *
 * @module
 */

import { useEffect, useRef } from 'preact/hooks'
import { forgetFirst, goTo } from '../navigation.js'
import { Button } from '../parts/button.js'
import { Dialog, FormIn } from '../parts/dialog.js'
import { TextField, useText } from '../parts/field.js'
import { call, session } from '../server.js'
import { useAction } from '../use-load.js'
import type { Session } from '../wire.js'
import { Brand } from './brand.js'
import { useNewPassword } from './new-password.js'

export function SignIn() {
  useEffect(() => {
    document.title = 'Sign in – oi console'
  }, [])
  return (
    <main class="lone">
      <div class="card sign-in">
        <Brand />
        <h1>Sign in</h1>
        <PasswordForm />
        <p class="hint">
          The first start prints a link that sets the password. To set it anew, run{' '}
          <code>oi admin password</code> on the machine of the server.
        </p>
      </div>
    </main>
  )
}

/** A dialog over the page, which keeps what was typed. */
export function SignInAgain() {
  return (
    <Dialog title="Your session has ended" onClose={() => {}} stays covers>
      <p>Sign in to go on where you were. What you have typed is kept.</p>
      <PasswordForm />
    </Dialog>
  )
}

function PasswordForm() {
  const [password, passwordField] = useText()
  const input = useRef<HTMLDivElement>(null)
  const find = () => input.current?.querySelector('input')
  useEffect(() => find()?.focus(), [])
  const signIn = useAction(async () => {
    if (password === '') return
    try {
      session.set(
        await call<Session>('/session', { method: 'POST', body: { password }, ofSession: true }),
      )
    } catch (error) {
      find()?.select()
      throw error
    }
  })
  return (
    <div ref={input}>
      <FormIn action={signIn}>
        <TextField
          label="Password"
          {...passwordField}
          input={{ type: 'password', autocomplete: 'current-password', name: 'password' }}
        />
        <Button kind="main" busy={signIn.busy || password === ''}>
          {signIn.busy ? 'Signing in…' : 'Sign in'}
        </Button>
      </FormIn>
    </div>
  )
}

/** The one-time link of the first start: sets the password, and signs in. */
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
