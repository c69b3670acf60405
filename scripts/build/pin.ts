/**
 * The pin: the llama.cpp commit, and the private headers that our CPU kernels use.
 *
 * `npm run update-llama` tries another commit, and prints the lines for this file.
 *
 * @module
 */

export interface Pin {
  readonly commit: string
  /** The npm package that carries llama.cpp's repository as a git bundle. */
  readonly package: string
  /** Integrity of the package's tarball. */
  readonly integrity: string
  /** For `npm run update-llama` alone: checks everything that is known of the pin. */
  readonly onTrial?: boolean
}

/** The one place where llama.cpp's version is pinned: v0.5.0. */
export const pin: Pin = {
  commit: 'de3ff815ea7d559ee917f063901b8986f038abc6',
  package: 'node-llama-cpp@3.22.1',
  integrity:
    'sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==',
}

/** Where the bundle lies in that package. */
export const bundleMember = 'package/llama/gitRelease.bundle'

/** ggml's private headers that our CPU kernels use, and the first half of their SHA-256. */
export const pinnedHeaders: Readonly<Record<string, string>> = {
  'ggml/src/ggml-backend-impl.h': '683e0583268e91e1f50b4ffc416b6523',
  'ggml/src/ggml-common.h': '0061131b615c5721fc88a78feeb22c1f',
  'ggml/src/ggml-cpu/ggml-cpu-impl.h': '785a19aac84bd35671d34b1986b920ba',
  'ggml/src/ggml-cpu/ops.h': '2727d0414c23f1d06ade33d277c3ca1f',
  'ggml/src/ggml-cpu/traits.h': '26e1b41879091a663325848aa82a4023',
  'ggml/src/ggml-impl.h': '43564db0238aebb7ed68501e346c1948',
}
