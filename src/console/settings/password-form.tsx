/**
 * The form to change the administrator's password.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { leastPassword, passwordMistakes } from '../frame/password.js'
import { FormIn } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { say } from '../parts/toast.js'
import { call, session } from '../server.js'
import { useAction } from '../use-load.js'
import type { Session } from '../wire.js'

export function PasswordForm() {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [again, setAgain] = useState('')
  const [tried, setTried] = useState(false)
  const mistakes = tried ? passwordMistakes(next, again) : {}
  const change = useAction(async () => {
    if (current === '') return
    setTried(true)
    if (Object.keys(passwordMistakes(next, again)).length > 0) return
    const body = { current, new: next }
    session.set(await call<Session>('/password', { method: 'PUT', body }))
    for (const empty of [setCurrent, setNext, setAgain]) empty('')
    setTried(false)
    say('The password is changed.')
  })
  return (
    <FormIn action={change}>
      <TextField
        label="Current password"
        value={current}
        onValue={setCurrent}
        input={{ type: 'password', autocomplete: 'current-password' }}
      />
      <TextField
        label="New password"
        value={next}
        onValue={setNext}
        hint={`At least ${leastPassword} characters. All other sessions end.`}
        error={mistakes.password}
        input={{ type: 'password', autocomplete: 'new-password' }}
      />
      <TextField
        label="Repeat the new password"
        value={again}
        onValue={setAgain}
        error={mistakes.again}
        input={{ type: 'password', autocomplete: 'new-password' }}
      />
      <div class="form-foot">
        <button type="submit" class="button" aria-disabled={change.busy || current === ''}>
          Change password
        </button>
      </div>
    </FormIn>
  )
}
