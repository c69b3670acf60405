/**
 * The replies of the admin API: types of its schemas.
 *
 * @module
 */

import type { BodyOf, ReplyOf } from '../api/admin/operations.js'

/** The part that is read here. */
export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly param?: string }
}

export type Session = ReplyOf<'getSession'>
export type Workspaces = ReplyOf<'listWorkspaces'>
export type Workspace = ReplyOf<'getWorkspace'>
export type WorkspaceChange = BodyOf<'changeWorkspace'>
export type Budget = NonNullable<Workspace['budget']>
export type LedgerPage = ReplyOf<'getLedger'>
export type LedgerRow = LedgerPage['rows'][number]
export type Keys = ReplyOf<'listKeys'>
export type Key = ReplyOf<'getKey'>
export type KeyWithSecret = ReplyOf<'createKey'>
export type KeyChange = BodyOf<'changeKey'>
export type Overview = ReplyOf<'getOverview'>
export type Usage = ReplyOf<'getUsage'>
export type UsageRow = Usage['rows'][number]
export type Models = ReplyOf<'listModels'>
export type ModelState = Models['models'][number]
export type ModelCard = NonNullable<ModelState['card']>
export type NewModel = BodyOf<'loadModel'>
export type NamedModels = ReplyOf<'listNamedModels'>
export type NamedModel = NamedModels['models'][number]
export type NewPull = BodyOf<'pullModel'>
export type Prices = ReplyOf<'listPrices'>
export type Price = Prices['prices'][number]
export type SettingsReport = ReplyOf<'getSettings'>
export type Setting = SettingsReport['settings'][number]
export type Audit = ReplyOf<'getAudit'>
export type AuditEntry = Audit['entries'][number]
export type Server = ReplyOf<'getServer'>
