import { Refusal } from '@millrace/contracts';
import { BoundedMap } from '@millrace/platform';
import type { AuditLog } from '../audit-log';
import type { Caller } from '../caller';
import type { FailedAttempts } from '../failed-attempts';
import { refusingList } from '../address-lists';

const NOTED_EVERY_MS = 3_600_000;
/** Keys whose refusals are remembered; the one noted longest ago goes first. */
const KEYS_REMEMBERED = 10_000;

/** Refuses callers whose address their account or their key does not allow. */
export class AddressGate {
  private readonly noted = new BoundedMap<{ at: number }>(KEYS_REMEMBERED);

  /** @param now milliseconds on any clock. */
  constructor(
    private readonly audit: Pick<AuditLog, 'noteOnceAnHour'>,
    private readonly failures: Pick<FailedAttempts, 'count'>,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Let a caller through who calls from an allowed address. A refusal counts as a failed authentication of the network, and is in the
   * audit log of the account, of each key once an hour.
   *
   * @param address of the client, proxies that are trusted not counted; null when the connection is gone.
   * @throws Refusal 403 `forbidden`; `details.address` names the address.
   */
  async assertAllowed(caller: Caller, address: string | null, network: string): Promise<void> {
    if (caller.allowLists === undefined) return;
    const list = refusingList(caller.allowLists, address);
    if (list === null) return;
    await this.note(caller, address);
    const message =
      `The allow-list of this ${list.of} does not contain the address that this request came from, ${address ?? 'which is not known'}. ` +
      'Call from one that it contains, or ask who manages the keys of the account to add it.';
    const details = { address, list: list.of === 'account' ? 'account' : 'key' };
    const refusal = new Refusal('forbidden', message, { details });
    this.failures.count(network, refusal);
    throw refusal;
  }

  private async note({ accountId, apiKeyId }: Caller, address: string | null): Promise<void> {
    if (apiKeyId === null) return;
    const last = this.noted.get(apiKeyId);
    if (last !== undefined && this.now() - last.at < NOTED_EVERY_MS) return;
    this.noted.set(apiKeyId, { at: this.now() });
    const act = { action: 'api_key.refuse_address', subjectType: 'api_key', subjectId: apiKeyId, accountId };
    await this.audit.noteOnceAnHour({ actor: `api_key:${apiKeyId}`, address }, [act]);
  }
}
