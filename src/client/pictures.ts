/**
 * Image files beside a request: `multipart/form-data` instead of base64.
 *
 * @module
 */

/** Names that the state, instructions or criteria mention -> the image to show there. */
export type Pictures = Readonly<Record<string, Blob | Uint8Array | ArrayBuffer>>

/**
 * A request with its images. Can be sent again.
 *
 * @throws TypeError if the request has `assets` already, or a value is neither a Blob nor bytes.
 */
export function formOf(request: object, pictures: Pictures): FormData {
  if ('assets' in request) throw new TypeError('pictures: expected a request without assets')
  const form = new FormData()
  const entries = Object.entries(pictures).map(([name, picture], i) => {
    const bytes = picture instanceof ArrayBuffer || ArrayBuffer.isView(picture)
    if (!bytes && !(picture instanceof Blob)) {
      throw new TypeError(`pictures: expected a Blob or bytes for ${JSON.stringify(name)}`)
    }
    // Parts have plain names of their own, which no encoding of form names changes.
    const part = `picture-${i}`
    form.append(part, bytes ? new Blob([picture]) : picture, part)
    return [name, { type: 'image', part }] as const
  })
  const json = JSON.stringify({ ...request, assets: Object.fromEntries(entries) })
  form.append('request', new Blob([json], { type: 'application/json' }))
  return form
}
