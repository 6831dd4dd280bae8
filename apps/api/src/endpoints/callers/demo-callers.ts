import { Inject, Injectable } from '@nestjs/common';
import { AccountsService, DEFAULT_LIMITS, NetworkAccounts, type AccountLimits, type Caller } from '@millrace/accounts';
import type { Scope } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../../api.config';
import { keylessCaller } from './keyless-caller';

const SCOPES_OF_DEMOS: Scope[] = ['jobs:read', 'jobs:write', 'assets:read', 'assets:write'];

/** The limits of one network at a demo deployment. */
export function demoLimits(settings: ApiSettings): AccountLimits {
  return {
    ...DEFAULT_LIMITS,
    runningLimit: settings.demoRunningLimit,
    queueLimit: settings.demoQueueLimit,
    streamLimit: settings.demoStreamLimit,
    uploadBytesPerDay: settings.demoNetworkUploadBytesPerDay,
    storageBytes: settings.demoStorageBytes,
  };
}

/** Who calls a demo deployment: a network, with an account of its own and small limits. */
@Injectable()
export class DemoCallers {
  /** Demos whose own account is there, which counts what all their networks upload. */
  private readonly counted = new Set<string>();

  constructor(
    private readonly networks: NetworkAccounts,
    private readonly accounts: AccountsService,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  /** @param scope what the caller is about to do. */
  async of(deploymentId: string, network: string, scope: Scope): Promise<Caller> {
    const writes = scope.endsWith(':write');
    if (writes) await this.count(deploymentId);
    const accountId = await this.networks.of(deploymentId, network, writes);
    return {
      ...keylessCaller(accountId, SCOPES_OF_DEMOS),
      limits: demoLimits(this.settings),
      retentionSeconds: this.settings.demoRetentionSeconds,
      sharedUploads: { accountId: deploymentId, bytesPerDay: this.settings.demoUploadBytesPerDay },
    };
  }

  /** The account of a demo as a whole has the id of its deployment. */
  private async count(deploymentId: string): Promise<void> {
    if (this.counted.has(deploymentId)) return;
    const name = 'all callers of a demo deployment';
    await this.accounts.ensureAccount({ id: deploymentId, name, kind: 'demo' });
    this.counted.add(deploymentId);
  }
}
