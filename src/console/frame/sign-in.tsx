/**
 * Signing in with the password.
 *
 * @module
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { FormIn } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { call, session } from '../server.js'
import { useAction } from '../use-load.js'
import type { Session } from '../wire.js'
import { Brand } from './brand.js'

export function SignIn() {
  const [password, setPassword] = useState('')
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => {
    document.title = 'Sign in – oi console'
    form.current?.querySelector('input')?.focus()
  }, [])
  const signIn = useAction(async () => {
    try {
      session.set(
        await call<Session>('/session', { method: 'POST', body: { password }, begins: true }),
      )
    } catch (error) {
      form.current?.querySelector('input')?.select()
      throw error
    }
  })
  return (
    <main class="lone">
      <div class="card sign-in" ref={form}>
        <Brand />
        <h1>Sign in</h1>
        <FormIn action={signIn}>
          <TextField
            label="Password"
            value={password}
            onValue={setPassword}
            input={{ type: 'password', autocomplete: 'current-password', name: 'password' }}
          />
          <button
            type="submit"
            class="button button-main"
            disabled={signIn.busy || password === ''}
          >
            {signIn.busy ? 'Signing in…' : 'Sign in'}
          </button>
        </FormIn>
        <p class="hint">
          The first start prints a link that sets the password. To set it anew, run{' '}
          <code>oi admin password</code> on the machine of the server.
        </p>
      </div>
    </main>
  )
}
