import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { AccountsService, type Caller } from '@millrace/accounts';
import { UploadService } from '@millrace/assets';
import { AccountQueues } from '@millrace/jobs';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { RequestLimits } from '../endpoints';
import { Streams } from '../http';
import type { AccountOverviewSchema } from './account-overview.schemas';

/** What the service allows where an account has no limit of its own. */
type DefaultLimits = Pick<ApiSettings, 'runningLimitPerAccount' | 'queueLimitPerAccount' | 'maxStreamsPerAccount'>;

/** An account at a glance: its limits, and how much of them it uses. */
@Injectable()
export class AccountOverview {
  constructor(
    private readonly accounts: AccountsService,
    private readonly queues: AccountQueues,
    private readonly uploads: UploadService,
    private readonly streams: Streams,
    private readonly requests: RequestLimits,
    @Inject(API_SETTINGS) private readonly defaults: DefaultLimits,
  ) {}

  /** @param caller the key that asks. @throws Refusal `not_found`. */
  async of(caller: Caller): Promise<z.output<typeof AccountOverviewSchema>> {
    const [account, load, uploadedBytes] = await Promise.all([
      this.accounts.getAccount(caller.accountId),
      this.queues.load(caller.accountId),
      this.uploads.bytesToday(caller.accountId),
    ]);
    const { uploadBytesPerDay, requestsPerMinute } = account;
    const perMinute = this.requests.of(requestsPerMinute);
    return {
      id: account.id,
      name: account.name,
      plan: account.plan,
      status: account.status,
      created_at: account.createdAt.toISOString(),
      key: { id: caller.apiKeyId, scopes: [...caller.scopes] },
      limits: {
        running_jobs: account.runningLimit ?? this.defaults.runningLimitPerAccount,
        queued_jobs: account.queueLimit ?? this.defaults.queueLimitPerAccount,
        requests_per_minute: perMinute.requests,
        polls_per_minute: perMinute.polls,
        event_streams: account.streamLimit ?? this.defaults.maxStreamsPerAccount,
        upload_bytes_per_day: uploadBytesPerDay,
      },
      use: {
        running_jobs: load.inFlight,
        queued_jobs: load.waiting,
        uploaded_bytes_today: uploadedBytes,
        event_streams: this.streams.openOf(account.id),
      },
    };
  }
}
