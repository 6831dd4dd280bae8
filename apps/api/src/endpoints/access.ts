import type { OperatorRole, Scope } from '@millrace/contracts';

/**
 * Who may use an endpoint, and what proves it.
 *
 * - `surface`: callers with the scope, by the rules of the surface: an API key on the cloud and on deployments, the one token
 *   (or none) on a self-hosted surface, anyone on a demo deployment (contract, section 5).
 * - `api_key`: an API key with the scope, on any surface; a self-hosted surface has no keys and lets in all its callers.
 *   A sub-key is let in where `subKeys` says that the handler shows and does nothing beyond its labels.
 * - `session`: who is signed in to the console, with any scopes.
 * - `operator`: an operator of the role: by the shared admin token, a token of their own, or a session of the operators' console.
 *   With `reason`, one who is known by name must say why, for the audit log.
 * - `signed_link`: the link itself; its handler verifies the signature in the query.
 * - `signed_body`: the sender's signature over the body; its handler verifies it.
 * - `nothing`: anyone.
 */
export type Access =
  | { readonly by: 'surface'; readonly scope: Scope }
  | { readonly by: 'api_key'; readonly scope: Scope; readonly subKeys?: true }
  | { readonly by: 'operator'; readonly role: OperatorRole; readonly reason?: true }
  | { readonly by: 'session' | 'signed_link' | 'signed_body' | 'nothing' };
