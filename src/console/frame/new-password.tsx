/**
 * The fields of a new password, which is typed twice.
 *
 * @module
 */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { TextField, useText } from '../parts/field.js'

const leastLength = 12
const input = { type: 'password', autocomplete: 'new-password' } as const

interface NewPassword {
  readonly fields: ComponentChildren
  /** @returns Undefined if it may not be taken; then the fields say why. */
  readonly take: () => string | undefined
  readonly clear: () => void
}

/** @param repeat - The label of the second field. @param hint - Stands behind the rule. */
export function useNewPassword(repeat: string, hint = ''): NewPassword {
  const [password, passwordField, setPassword] = useText()
  const [again, againField, setAgain] = useText()
  const [tried, setTried] = useState(false)
  const isShort = password.length < leastLength
  const differ = password !== again
  const short = `At least ${leastLength} characters; these are ${password.length}.`
  return {
    fields: (
      <>
        <TextField
          label="New password"
          {...passwordField}
          hint={`At least ${leastLength} characters.${hint}`}
          error={tried && isShort ? short : undefined}
          input={input}
        />
        <TextField
          label={repeat}
          {...againField}
          error={tried && differ ? 'The two are not the same.' : undefined}
          input={input}
        />
      </>
    ),
    take: () => {
      setTried(true)
      return isShort || differ ? undefined : password
    },
    clear: () => {
      setPassword('')
      setAgain('')
      setTried(false)
    },
  }
}
