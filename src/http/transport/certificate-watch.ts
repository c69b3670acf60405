/**
 * Sees when the files of a certificate change, as whoever renews it writes them: no signal is
 * needed then.
 *
 * Rules
 *   1. The files are looked at by their names, now and then: a folder of links that is exchanged as
 *      a whole, as Kubernetes does, is seen like a file that is written.
 *   2. Between two writes, the key belongs to no certificate: only what is wrong at two looks is
 *      told, once. What was shown before goes on being shown.
 *
 * @module
 */

import { stat } from 'node:fs/promises'
import { readTls, type TlsContent, type TlsFiles } from './tls.js'

export interface CertificateWatchOptions {
  /** Undefined: none is shown. */
  readonly files: () => TlsFiles | undefined
  /** Told what they hold when they may have changed, at first too. */
  readonly use: (content: TlsContent) => void
  /** Takes a sentence that the operator should know. */
  readonly notice: (text: string) => void
  /** Between two looks, milliseconds. */
  readonly everyMs?: number
}

export class CertificateWatch {
  readonly #options: CertificateWatchOptions
  readonly #timer: NodeJS.Timeout
  #seen: string | undefined
  #failures = 0
  #looking = false

  /** Begins to look. */
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

/** It changes when one of them does. @throws If one is not there. */
async function identityOf({ certFile, keyFile }: TlsFiles): Promise<string> {
  const found = await Promise.all([certFile, keyFile].map((file) => stat(file)))
  const identities = found.map(({ dev, ino, size, mtimeMs }) => [dev, ino, size, mtimeMs].join(':'))
  return [certFile, keyFile, ...identities].join(' ')
}
