/**
 * Pictures that are dropped, pasted or chosen.
 *
 * @module
 */

const types = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

export const acceptedTypes = types.join(',')

/** As the server takes them. */
const mostBytes = 8 * 1024 * 1024
export const mostImages = 8

export interface ReadPictures {
  /** Data URLs. */
  readonly images: readonly string[]
  /** Why others are not among them. */
  readonly reasons: readonly string[]
}

export function hasPictures(data: DataTransfer | null): boolean {
  return [...(data?.items ?? [])].some(({ kind, type }) => kind === 'file' && isPicture(type))
}

export async function readPictures(files: Iterable<File>, room: number): Promise<ReadPictures> {
  const images: string[] = []
  const reasons: string[] = []
  for (const file of files) {
    const name = file.name || 'The picture'
    if (!types.includes(file.type)) reasons.push(`${name} is no PNG, JPEG, WebP or GIF.`)
    else if (file.size > mostBytes) reasons.push(`${name} is larger than 8 MiB.`)
    else if (images.length >= room) reasons.push(`${name}: a request has ${mostImages} at most.`)
    else images.push(await dataUrl(file))
  }
  return { images, reasons }
}

const isPicture = (type: string): boolean => type.startsWith('image/')

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read'))
    reader.readAsDataURL(file)
  })
}
