import type { Scope } from '@millrace/contracts';

/**
 * Who may use an endpoint, and what proves it.
 *
 * - `surface`: who the surface lets in, with the scope: an API key on the cloud and on deployments, the one token (or nobody
 *   in particular) on a self-hosted surface, any caller on a demo deployment (contract, section 5).
 * - `api_key`: an API key with the scope, on whatever surface; a self-hosted surface has none and lets in who may use it.
 * - `admin_token`: the one admin token.
 * - `signed_link`: the link itself; its handler verifies the signature in the query.
 * - `signed_body`: the sender's signature over the body; its handler verifies it.
 * - `nothing`: anyone.
 */
export type Access =
  | { readonly by: 'surface' | 'api_key'; readonly scope: Scope }
  | { readonly by: 'admin_token' | 'signed_link' | 'signed_body' | 'nothing' };
