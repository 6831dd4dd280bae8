import type { Caller, NamedOperator, Operator, OperatorSession } from '@millrace/accounts';
import type { JobScope } from '@millrace/jobs';
import { contextOf, countAsStranger, type Surface } from '../http';
import type { Access } from './access';

/** Who sent a request and where it came to. Made by `VisitorGuard` before any handler runs. */
export interface Visitor {
  /** Has the rights of when the guard let them in; once a slow body is there, or its turn has come, those of then: take it after that. */
  readonly caller: Readonly<Caller>;
  /** Where the caller's jobs are found. */
  readonly scope: Readonly<JobScope>;
  readonly surface: Surface;
  /** The surface is a demo deployment: the caller is a network. */
  readonly demo: boolean;
  readonly requestId: string;
}

/** A visitor who is signed in to the console. */
export type SignedIn = Visitor & { readonly caller: { readonly sessionId: string } };

/** An operator as the guard found them. */
export type AdmittedOperator = Operator & {
  /** Null for who holds the shared admin token, and may do everything. */
  readonly named: NamedOperator | null;
  /** The session by which one came who sent no token. */
  readonly session: OperatorSession | null;
};

/** What the guard of an endpoint found out about its caller. */
export type Admitted<A extends Access = Access> = A extends { by: 'surface' | 'api_key' }
  ? { readonly visitor: Visitor }
  : A extends { by: 'session' }
    ? { readonly visitor: SignedIn }
    : A extends { by: 'operator' }
      ? { readonly operator: AdmittedOperator }
      : unknown;

/** Who a guard let in. */
export type Guest =
  | { readonly visitor: Visitor; readonly operator?: undefined }
  | { readonly visitor?: undefined; readonly operator: AdmittedOperator };

/**
 * Keep who a guard let in, for the handler of this request.
 *
 * @param confirm rejects when the guest has lost access since, and gives them the rights that they have now. Of no use where there is no body that arrives slowly or waits.
 */
export function admit(request: object, guest: Guest, confirm?: () => Promise<void>): void {
  const context = contextOf(request);
  context.guest = guest;
  if (confirm !== undefined) Object.assign(context, { confirm, confirmedAtMs: performance.now() });
  // The callers of a demo have no account that they chose: each pays by its address, on all demos together.
  if (guest.visitor?.demo === true) countAsStranger(request);
  else if (guest.visitor !== undefined) context.payer = guest.visitor.caller.accountId;
}

/** Who the guard of this request let in; null where the endpoint has no guard. */
export function guestOf(request: object): Guest | null {
  return contextOf(request).guest as Guest | null;
}
