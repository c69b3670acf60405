/**
 * Pictures beside a request, as they are: `multipart/form-data` instead of base64.
 *
 * @module
 */

/** Names that the state, instructions or criteria mention -> the picture that is seen there. */
export type Pictures = Readonly<Record<string, Blob | Uint8Array | ArrayBuffer>>

/**
 * A request with its pictures. Can be sent again.
 *
 * @throws TypeError if the request has pictures by names already, or what is given is no picture.
 */
export function formOf(request: object, pictures: Pictures): FormData {
  if ('assets' in request) throw new TypeError('pictures: expected a request without assets')
  const form = new FormData()
  const entries = Object.entries(pictures).map(([name, picture], i) => {
    const bytes = picture instanceof ArrayBuffer || ArrayBuffer.isView(picture)
    if (!bytes && !(picture instanceof Blob)) {
      throw new TypeError(`pictures: expected a Blob or bytes for ${JSON.stringify(name)}`)
    }
    // Parts have names of their own, which every way of writing them leaves as they are.
    const part = `picture-${i}`
    form.append(part, bytes ? new Blob([picture]) : picture, part)
    return [name, { type: 'image', part }] as const
  })
  const json = JSON.stringify({ ...request, assets: Object.fromEntries(entries) })
  form.append('request', new Blob([json], { type: 'application/json' }))
  return form
}
