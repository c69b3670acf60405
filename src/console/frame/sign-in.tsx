/**
 * Signing in with the password: on its own page, or in front of the page whose session ended.
 *
 * @module
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../parts/button.js'
import { Dialog, FormIn } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { call, session } from '../server.js'
import { useAction } from '../use-load.js'
import type { Session } from '../wire.js'
import { Brand } from './brand.js'

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
  const [password, setPassword] = useState('')
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
          value={password}
          onValue={setPassword}
          input={{ type: 'password', autocomplete: 'current-password', name: 'password' }}
        />
        <Button kind="main" busy={signIn.busy || password === ''}>
          {signIn.busy ? 'Signing in…' : 'Sign in'}
        </Button>
      </FormIn>
    </div>
  )
}
