import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { AccountsService, type Account, type Caller } from '@millrace/accounts';
import { StorageQuota, UploadService } from '@millrace/assets';
import { ACCOUNT_LIMITS } from '@millrace/contracts';
import { AccountQueues } from '@millrace/jobs';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { RequestLimits } from '../endpoints';
import { OpenStreams } from '../streams';
import type { AccountOverviewSchema } from './account-overview.schemas';

type ShownLimit = (typeof ACCOUNT_LIMITS)[number]['shownAs'];

/** An account at a glance: its limits, and how much of them it uses. */
@Injectable()
export class AccountOverview {
  constructor(
    private readonly accounts: AccountsService,
    private readonly queues: AccountQueues,
    private readonly uploads: UploadService,
    private readonly quota: StorageQuota,
    private readonly streams: OpenStreams,
    private readonly requests: RequestLimits,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  /** @param caller the key that asks. @throws Refusal `not_found`. */
  async of(caller: Caller): Promise<z.output<typeof AccountOverviewSchema>> {
    const [account, load, uploadedBytes, storedBytes, openStreams] = await Promise.all([
      this.accounts.getAccount(caller.accountId),
      this.queues.load(caller.accountId),
      this.uploads.bytesToday(caller.accountId),
      this.quota.usedBytes(caller.accountId),
      this.streams.countOf(caller.accountId),
    ]);
    const perMinute = this.requests.of(account.requestsPerMinute);
    return {
      id: account.id,
      name: account.name,
      plan: account.plan,
      status: account.status,
      created_at: account.createdAt.toISOString(),
      key: { id: caller.apiKeyId, scopes: [...caller.scopes] },
      limits: {
        ...this.limitsOf(account),
        polls_per_minute: perMinute.polls,
      },
      use: {
        running_jobs: load.inFlight,
        queued_jobs: load.waiting,
        uploaded_bytes_today: uploadedBytes,
        storage_bytes: storedBytes,
        event_streams: openStreams,
      },
    };
  }

  /** The limits that apply to an account: its own, or the defaults of the service. */
  private limitsOf(account: Account): Record<ShownLimit, number | null> {
    const limits = ACCOUNT_LIMITS.map((limit) => [
      limit.shownAs,
      account[limit.name] ?? (limit.default === null ? null : this.settings[limit.default]),
    ]);
    return Object.fromEntries(limits) as Record<ShownLimit, number | null>;
  }
}
