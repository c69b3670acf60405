import type { Noted, StoreFile } from '../store/store-file.js'
import type { SpoolPlace } from './spool-files.js'

/** Where a ledger's bookings go. */
export interface LedgerStore {
  /** Of the spools of these accounts. */
  readonly place: SpoolPlace
  /** SQLite's file in the data folder; or PostgreSQL's address. */
  readonly dataDir?: string | undefined
  /** The file that this process has open. */
  readonly file?: StoreFile | undefined
  readonly url?: string | undefined
}

export interface LedgerOptions {
  readonly store: LedgerStore
  /**
   * How long bookings for which somebody waits go to spools while they cannot be written,
   * milliseconds. Default 0: they are refused.
   */
  readonly graceMs?: number
  /** Takes a sentence for the operator. */
  readonly log: (text: string) => void
  /** Called when the path leads to another file than before, or to none. */
  readonly onMoved?: () => void
}

/** The store for another thread. */
export type ThreadStore = Omit<LedgerStore, 'file'> & { readonly noted: Noted | undefined }
