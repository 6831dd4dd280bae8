import type { AccountStatus } from '@millrace/contracts';
import type { AccountLimits } from './account-limits';

/**
 * A customer; or one of the service's own accounts: that of the self-hosted surface, of a demo deployment as a whole, and of
 * each network that calls a demo.
 */
export interface Account extends AccountLimits {
  id: string;
  name: string;
  kind: 'customer' | 'self_hosted' | 'demo' | 'demo_network';
  status: AccountStatus;
  plan: string;
  createdAt: Date;
  updatedAt: Date;
  /** When it was closed, to be erased. It is suspended for good. */
  closedAt: Date | null;
}

/** What may be set on an account. An absent field keeps its value; a limit that is null is the service's default. */
export type AccountChanges = Partial<Pick<Account, 'name' | 'plan' | 'status'> & AccountLimits>;
