/**
 * Whether the registry has signed the installed packages, from `npm audit signatures --json`.
 *
 * @module
 */

interface Found {
  readonly invalid?: readonly Place[]
  readonly missing?: readonly Place[]
  readonly error?: { readonly summary: string }
}

interface Place {
  readonly name: string
  readonly version: string
}

interface Signatures {
  /** Reasons not to release, one sentence each. */
  readonly complaints: readonly string[]
  /** Why nothing could be checked: the registry's keys are not available everywhere. */
  readonly unchecked: string | undefined
}

/** @param text - npm's standard output. */
export function readSignatures(text: string): Signatures {
  let found: Found
  try {
    found = JSON.parse(text) as Found
  } catch {
    return { complaints: [], unchecked: 'npm says nothing about signatures' }
  }
  if (found.error !== undefined) return { complaints: [], unchecked: found.error.summary }
  const list = (places: readonly Place[] = [], what: string) =>
    places.map(({ name, version }) => `${name}@${version}: its signature is ${what}`)
  const complaints = [...list(found.invalid, 'wrong'), ...list(found.missing, 'missing')]
  return { complaints, unchecked: undefined }
}
