import type { AccountStatus } from '@millrace/contracts';
import type { AccountLimits } from './account-limits';

/** A customer, or one of the service's own accounts: the self-hosted surface and demo deployments act through one. */
export interface Account extends AccountLimits {
  id: string;
  name: string;
  kind: 'customer' | 'self_hosted' | 'demo';
  status: AccountStatus;
  plan: string;
  createdAt: Date;
  updatedAt: Date;
}

/** What may be set on an account. An absent field keeps its value; a limit that is null is the service's default. */
export type AccountChanges = Partial<Pick<Account, 'name' | 'plan' | 'status'> & AccountLimits>;
