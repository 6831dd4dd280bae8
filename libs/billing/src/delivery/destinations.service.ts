import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { AddressGuard } from '@millrace/platform';
import type { DailyExports } from '../exports';
import type { DestinationSecrets } from './destination-secrets';
import type { DestinationStore } from './destination.store';
import type { DestinationDraft, ExportDestination } from './export-destination';

const DAY_MS = 86_400_000;

/** Where accounts have their exports written. */
export class ExportDestinations {
  /** @param hasOwnBucket whether the service keeps its bytes in a bucket. */
  constructor(
    private readonly database: Statements,
    private readonly store: DestinationStore,
    private readonly secrets: DestinationSecrets,
    private readonly guard: AddressGuard,
    private readonly exports: Pick<DailyExports, 'firstIncompleteDay'>,
    private readonly hasOwnBucket: boolean,
  ) {}

  /** @throws Refusal `not_found`. */
  async get(accountId: string): Promise<ExportDestination> {
    return found(await this.store.find(this.database, accountId));
  }

  /**
   * Set it: the first file is that of the last complete day.
   *
   * @throws Refusal `invalid_request` for an endpoint to which nothing is sent, and for the service's bucket where there is none.
   */
  async put(tx: Statements, accountId: string, { target, prefix }: DestinationDraft): Promise<ExportDestination> {
    if (target === null) {
      if (!this.hasOwnBucket) throw noOwnBucket();
      const none = { bucket: null, region: null, endpoint: null, accessKeyId: null, sealedSecret: null };
      return this.store.put(tx, accountId, { ...none, prefix }, await this.firstDay(tx));
    }
    const { secretAccessKey, endpoint, ...place } = target;
    const fault = endpoint === null ? null : this.guard.faultOf(endpoint);
    if (fault !== null) throw Refusal.ofFields([{ field: 'endpoint', reason: fault }]);
    const sealedSecret = this.secrets.seal(secretAccessKey, accountId);
    return this.store.put(tx, accountId, { ...place, endpoint, sealedSecret, prefix }, await this.firstDay(tx));
  }

  /** Stop writing, or go on. @throws Refusal `not_found`. */
  async enable(tx: Statements, accountId: string, enabled: boolean): Promise<ExportDestination> {
    return found(await this.store.enable(tx, accountId, enabled));
  }

  /** @throws Refusal `not_found`. */
  async delete(tx: Statements, accountId: string): Promise<void> {
    if (!(await this.store.delete(tx, accountId))) throw noDestination();
  }

  private async firstDay(tx: Statements): Promise<string> {
    const next = new Date(`${await this.exports.firstIncompleteDay(tx)}T00:00:00.000Z`);
    return new Date(next.getTime() - DAY_MS).toISOString().slice(0, 10);
  }
}

function found(destination: ExportDestination | null): ExportDestination {
  if (destination === null) throw noDestination();
  return destination;
}

function noDestination(): Refusal {
  return new Refusal('not_found', 'The account has no destination of exports: set one first.');
}

function noOwnBucket(): Refusal {
  return Refusal.ofFields(
    [{ field: 'bucket', reason: 'must name a bucket of yours: this service has none that it could write to' }],
    400,
  );
}
