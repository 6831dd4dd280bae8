import type { Caller, Operator } from '@millrace/accounts';
import type { JobScope } from '@millrace/jobs';
import type { Surface } from '../http';
import type { Access } from './access';

/** Who sent a request and where it came to. Made by `VisitorGuard` before any handler runs; nothing changes it. */
export interface Visitor {
  readonly caller: Readonly<Caller>;
  /** Where the caller's jobs are found. */
  readonly scope: Readonly<JobScope>;
  readonly surface: Surface;
  /** The surface is a demo deployment: all its callers share one account. */
  readonly demo: boolean;
  readonly requestId: string;
  /** Network address of the client; null when the connection has gone already. */
  readonly address: string | null;
}

/** What the guard of an endpoint found out about its caller. */
export type Admitted<A extends Access = Access> = A extends { by: 'surface' | 'api_key' }
  ? { readonly visitor: Visitor }
  : A extends { by: 'admin_token' }
    ? { readonly operator: Operator }
    : unknown;

const ADMITTED = Symbol('admitted');

/** Keep what a guard found out, for the handler of this request. */
export function admit(request: object, admitted: { visitor: Visitor } | { operator: Operator }): void {
  Object.assign(request, { [ADMITTED]: admitted });
}

/** What the guard of this request found out; undefined where the endpoint has none. */
export function admittedOf(request: object): { visitor: Visitor } | { operator: Operator } | undefined {
  return (request as { [ADMITTED]?: { visitor: Visitor } | { operator: Operator } })[ADMITTED];
}
