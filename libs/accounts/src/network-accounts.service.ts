import { createHmac } from 'node:crypto';
import type { Database } from '@millrace/database';
import { LoadingCache, type KeyRing } from '@millrace/platform';
import type { AccountLimits } from './account-limits';
import type { AccountStore } from './account.store';

const CACHED_NETWORKS = 10_000;
/** Far shorter than the day after which the account of an idle network is deleted, so no cached account is. */
const TTL_MS = 600_000;

/**
 * The accounts of those who call a demo deployment without a credential: one for each network and deployment. Its id is an
 * HMAC of both, so neither the database nor a backup says who called. A key that leaves the ring ends the accounts made with
 * it.
 */
export class NetworkAccounts {
  private readonly secrets: Buffer[];
  private readonly found: LoadingCache<string>;
  private readonly kept: LoadingCache<string>;

  /** @param limits those of each network. They are kept with its account, for the loop that follows limits. */
  constructor(
    private readonly database: Database,
    private readonly accounts: Pick<AccountStore, 'findNetwork' | 'keepNetwork'>,
    ring: KeyRing,
    private readonly limits: AccountLimits,
  ) {
    this.secrets = ring.for('demo networks').map(({ secret }) => secret);
    const options = { max: CACHED_NETWORKS, ttlMs: TTL_MS };
    this.found = new LoadingCache({ ...options, load: (who) => this.find(who) });
    this.kept = new LoadingCache({ ...options, load: (who) => this.keep(who) });
  }

  /**
   * The id of a network's account.
   *
   * @param network as `subnetOfAddress` names it.
   * @param writes make sure that the account is there. A network that only reads leaves no trace.
   */
  async of(deploymentId: string, network: string, writes: boolean): Promise<string> {
    const who = `${deploymentId} ${network}`;
    if (writes || this.kept.has(who)) return this.kept.get(who);
    return this.found.get(who);
  }

  /** All processes come to the same account while a key of the ring is replaced: the one that was made first. */
  private async find(who: string): Promise<string> {
    const ids = this.secrets.map((secret) => pseudonym(secret, who));
    return (await this.accounts.findNetwork(this.database, ids)) ?? (ids[0] as string);
  }

  private async keep(who: string): Promise<string> {
    const id = await this.find(who);
    await this.accounts.keepNetwork(this.database, id, this.limits);
    this.found.delete(who);
    return id;
  }
}

/** A UUID of version 8 (RFC 9562): its bits are our own, those of an HMAC-SHA256. */
function pseudonym(secret: Buffer, who: string): string {
  const bytes = createHmac('sha256', secret).update(who).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
