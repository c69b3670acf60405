/**
 * Signing in and out.
 *
 * @module
 */

import Type from 'typebox'
import { count, strict, time } from './fields.js'
import { named } from '../schema-parts.js'

const password = (description: string) => Type.String({ minLength: 1, maxLength: 256, description })

const newPassword = Type.String({
  minLength: 12,
  maxLength: 256,
  description: 'The new password: 12 to 256 characters.',
})

export const SignInSchema = named(
  'SignIn',
  { password: password('The password of the administrator.') },
  strict,
)

export const FirstSignInSchema = named(
  'FirstSignIn',
  {
    token: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The part after `#first=` in the link of the first start. Valid once.',
    }),
    password: newPassword,
  },
  strict,
)

export const PasswordChangeSchema = named(
  'PasswordChange',
  { current: password('The current password.'), new: newPassword },
  strict,
)

export const SessionSchema = named('Session', {
  csrf_token: Type.String({
    minLength: 1,
    description: 'Send it as `x-oi-csrf` with every request that changes something.',
  }),
  expires_at: time('When it ends, even if it is in use.'),
  idle_timeout_seconds: count('It ends after this time without a request.'),
})
