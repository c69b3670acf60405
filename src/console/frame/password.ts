/**
 * Checks a new password.
 *
 * @module
 */

export const leastPassword = 12

interface PasswordMistakes {
  readonly password?: string
  readonly again?: string
}

export function passwordMistakes(password: string, again: string): PasswordMistakes {
  return {
    ...(password.length < leastPassword && {
      password: `At least ${leastPassword} characters; these are ${password.length}.`,
    }),
    ...(password !== again && { again: 'The two are not the same.' }),
  }
}
