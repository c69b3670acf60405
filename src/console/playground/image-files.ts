/**
 * Images that are dropped, pasted or chosen.
 *
 * @module
 */

const types = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

export const acceptedTypes = types.join(',')

/** The server's limits. */
const mostBytes = 8 * 1024 * 1024
export const mostImages = 8

interface ReadImages {
  /** Data URLs. */
  readonly images: readonly string[]
  /** Why other files were refused. */
  readonly reasons: readonly string[]
}

export function hasImages(data: DataTransfer | null): boolean {
  return [...(data?.items ?? [])].some(({ kind, type }) => kind === 'file' && isImage(type))
}

export async function readImages(files: Iterable<File>, room: number): Promise<ReadImages> {
  const images: string[] = []
  const reasons: string[] = []
  for (const file of files) {
    const name = file.name || 'The image'
    if (!types.includes(file.type)) reasons.push(`${name} is no PNG, JPEG, WebP or GIF.`)
    else if (file.size > mostBytes) reasons.push(`${name} is larger than 8 MiB.`)
    else if (images.length >= room) reasons.push(`${name}: a request has ${mostImages} at most.`)
    else images.push(await dataUrl(file))
  }
  return { images, reasons }
}

const isImage = (type: string): boolean => type.startsWith('image/')

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read'))
    reader.readAsDataURL(file)
  })
}
