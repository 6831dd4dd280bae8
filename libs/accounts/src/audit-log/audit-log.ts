/** Who does an administrative act, and from where. */
export interface Operator {
  /** `admin` for the shared token, `token:<name>`, `operator:<who>` who is signed in by name, `member:<id>` who is signed in to an account, `api_key:<id>` where a key of an account acts. */
  actor: string;
  /** Network address; null for an act without a connection. */
  address: string | null;
  /** Why, in the operator's own words. */
  reason?: string | null;
}

/** What was done to what. */
export interface Act {
  /** Subject and verb, e.g. `api_key.revoke`. */
  action: string;
  subjectType: string;
  subjectId: string;
  /** The account that it concerns; null when it is not about one account. */
  accountId: string | null;
  /** What was set. Never a secret. */
  details?: ActDetails;
}

/** JSON; whole numbers beyond 2^53 are strings. */
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
