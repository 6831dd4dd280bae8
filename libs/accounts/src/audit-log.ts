/** Who does an administrative act, and from where. */
export interface Operator {
  /** `admin`, or `api_key:<id>` where a key of an account acts. */
  actor: string;
  /** Network address; null where nobody is at the other end of a connection. */
  address: string | null;
}

/** What was done to what. */
export interface Act {
  /** Subject and verb, e.g. `api_key.revoke`. */
  action: string;
  subjectType: string;
  subjectId: string;
  /** The account that it concerns; null when it concerns none alone. */
  accountId: string | null;
  /** What was set, as it can be read later. Never a secret. */
  details?: ActDetails;
}

/** What JSON can hold; whole numbers beyond 2^53 are written as strings. */
export type ActDetails = Record<string, ActDetail>;
export type ActDetail = string | number | boolean | null | readonly ActDetail[] | { [key: string]: ActDetail };

/** An act as it was recorded. */
export interface AuditEntry extends Operator, Required<Act> {
  id: string;
  at: Date;
}

/** Which entries a reader asks for; absent means all. */
export interface AuditFilter {
  accountId?: string;
  actor?: string;
  action?: string;
  subjectId?: string;
  /** Entries at or after this. */
  from?: Date;
  /** Entries before this. */
  to?: Date;
}
