import type { Statements } from '@millrace/database';

/** Why an endpoint gets nothing. `failing`: it failed for too long. `gone`: it answered that it is no longer there. */
export const DISABLED_REASONS = ['by_owner', 'failing', 'gone'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Where an account has its events sent. */
export interface WebhookEndpoint {
  id: string;
  accountId: string;
  url: string;
  description: string;
  eventTypes: string[];
  createdAt: Date;
  updatedAt: Date;
  /**
   * Since when attempts fail; null where the last one succeeded. It begins again with an attempt that fails more than three days later while no
   * message is being tried again.
   */
  failingSince: Date | null;
  /** Null while messages are sent. */
  disabledAt: Date | null;
  disabledReason: DisabledReason | null;
}

/** What its owner decides. */
export interface EndpointDraft {
  url: string;
  description: string;
  eventTypes: readonly string[];
  /** Of links in messages: where the account reaches the service, such as `https://api.example.com`. */
  origin: string;
}

/** What its owner changes; what is absent stays. */
export type EndpointChanges = Partial<Omit<EndpointDraft, 'origin'>> &
  Pick<EndpointDraft, 'origin'> & { enabled?: boolean };

/** Runs an act in one transaction, with what else belongs to it, such as its entry in the audit log. It may call the act again where PostgreSQL undid it. */
export type Transact<T> = (act: (tx: Statements) => Promise<T>) => Promise<T>;
