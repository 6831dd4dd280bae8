import type { AccountsService, Caller } from '@millrace/accounts';
import type { UploadService } from '@millrace/assets';
import type { AccountQueues, JobSettings } from '@millrace/jobs';
import type { RequestLimits } from '../endpoints/request-limits';
import type { Streams } from '../http/streams';

/** What the service allows where an account has no limit of its own. */
export type DefaultLimits = Pick<JobSettings, 'runningLimitPerAccount' | 'queueLimitPerAccount'> & {
  maxStreamsPerAccount: number;
};

/** An account at a glance: what it may do, and what it does. */
export class AccountOverview {
  constructor(
    private readonly accounts: AccountsService,
    private readonly queues: AccountQueues,
    private readonly uploads: UploadService,
    private readonly streams: Streams,
    private readonly requests: RequestLimits,
    private readonly defaults: DefaultLimits,
  ) {}

  async of(caller: Caller): Promise<object> {
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
        upload_bytes_per_day: uploadBytesPerDay === null ? null : Number(uploadBytesPerDay),
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
