/**
 * Notices when the files of a certificate change, so that its renewal needs no signal.
 *
 * Rules
 *   1. The files are checked by name at intervals: a folder of links that is exchanged as a whole,
 *      as Kubernetes does, is noticed like a file that is written.
 *   2. Between two writes, the key does not match the certificate: an error is reported once, and
 *      only if two checks see it. The certificate in use stays.
 *
 * @module
 */

import { stat } from 'node:fs/promises'
import { requireFile } from '../../open-input.js'
import { readTls, type TlsContent, type TlsFiles } from './tls.js'

interface CertificateWatchOptions {
  /** Undefined: no certificate is in use. */
  readonly files: () => TlsFiles | undefined
  /** Called with the files' content when they may have changed, and at the start. */
  readonly use: (content: TlsContent) => void
  /** Takes a sentence for the operator. */
  readonly notice: (text: string) => void
  /** Time between two checks, milliseconds. */
  readonly everyMs?: number
}

export class CertificateWatch {
  readonly #options: CertificateWatchOptions
  readonly #timer: NodeJS.Timeout
  #seen: string | undefined
  #failures = 0
  #looking = false

  /** Starts the checks. */
  constructor(options: CertificateWatchOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#look(), options.everyMs ?? 5000).unref()
    void this.#look()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const files = this.#options.files()
    if (files === undefined || this.#looking) return
    this.#looking = true
    try {
      const found = await identityOf(files)
      if (found === this.#seen) return
      this.#options.use(readTls(files))
      this.#seen = found
      this.#failures = 0
    } catch (error) {
      if (++this.#failures !== 2) return
      this.#options.notice(`The certificate stays as it is: ${(error as Error).message}`)
    } finally {
      this.#looking = false
    }
  }
}

/** Changes when one of the files does. @throws If one does not exist. */
async function identityOf({ certFile, keyFile }: TlsFiles): Promise<string> {
  for (const file of [certFile, keyFile]) await requireFile(file, 'ERR_CONFIG')
  const found = await Promise.all([certFile, keyFile].map((file) => stat(file)))
  const identities = found.map(({ dev, ino, size, mtimeMs }) => [dev, ino, size, mtimeMs].join(':'))
  return [certFile, keyFile, ...identities].join(' ')
}
