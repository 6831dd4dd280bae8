import { Refusal, newId } from '@millrace/contracts';
import { isUndone, repeatBriefly, repeatUndone, type Database, type Statements } from '@millrace/database';
import type { AssetSettings } from '../assets.settings';
import type { ReservedRoom, StorageStore } from './storage.store';

/** How long room is reserved, as long as staged bytes are kept: a process that died leaves both behind. */
export const RESERVED_SECONDS = 86_400;
/** The first step of an upload of unknown size; each further one is as large as all before it, up to the largest. */
const FIRST_STEP_BYTES = 65_536;
const LARGEST_STEP_BYTES = 8_388_608;

/** Room for an upload that is being received. */
export interface Reservation {
  readonly id: string;
  /** Reserve as much as has arrived. @returns null when that is reserved already. @throws Refusal `storage_full`. */
  cover(arrivedBytes: number): Promise<void> | null;
  /** Give the room back. Without effect once its bytes are a blob. */
  release(): Promise<void>;
}

/**
 * How much an account may store. Bytes have their room reserved before they are accepted, and count as stored from the moment
 * at which their blob is recorded until it is swept. Equal bytes of one account are one blob, and count once.
 */
export class StorageQuota {
  constructor(
    private readonly database: Database,
    private readonly store: StorageStore,
    private readonly settings: Pick<AssetSettings, 'storageBytesPerAccount'>,
  ) {}

  /** Bytes that an account stores, with those that are on their way in. */
  async usedBytes(accountId: string): Promise<number> {
    return this.store.usedBytes(this.database, accountId);
  }

  /**
   * Reserve room for an upload that begins.
   *
   * @param sizeBytes its largest possible size; null: unknown, and reserved as bytes arrive.
   * @param limitBytes the account's own limit; null: the service's.
   * @throws Refusal `storage_full`.
   */
  async reserve(accountId: string, sizeBytes: number | null, limitBytes: number | null): Promise<Reservation> {
    const id = newId();
    let reservedBytes = sizeBytes ?? 0;
    const draft = { id, accountId, sizeBytes: reservedBytes };
    try {
      await repeatUndone(() => this.database.transaction((tx) => this.reserveIn(tx, draft, limitBytes)));
    } catch (error) {
      // The answer to the commit alone may be lost, and nobody else knows the room. Where this fails, the reservation expires.
      const isUnknown = !(error instanceof Refusal) && !isUndone(error);
      if (isUnknown) await repeatBriefly(() => this.store.release(this.database, id)).catch(() => undefined);
      throw error;
    }
    const grow = async (leastBytes: number): Promise<void> => {
      const wanted = { id, accountId, leastBytes, sizeBytes: nextSize(reservedBytes, leastBytes) };
      const growth = (): Promise<number> => this.database.transaction((tx) => this.growIn(tx, wanted, limitBytes));
      reservedBytes = await repeatUndone(growth);
    };
    return {
      id,
      cover: (arrivedBytes) => (arrivedBytes <= reservedBytes ? null : grow(arrivedBytes)),
      release: () => this.store.release(this.database, id),
    };
  }

  /** Reserve room in a transaction, under an id of the caller's. @throws Refusal `storage_full`. */
  async reserveIn(tx: Statements, draft: ReservedRoom, limitBytes: number | null): Promise<void> {
    const limit = this.limitOf(limitBytes);
    await this.store.lock(tx, draft.accountId);
    const terms = { limitBytes: limit, lifeSeconds: RESERVED_SECONDS };
    if (!(await this.store.reserve(tx, draft, terms))) throw storageFull(limit);
  }

  private async growIn(
    tx: Statements,
    wanted: ReservedRoom & { leastBytes: number },
    limitBytes: number | null,
  ): Promise<number> {
    const limit = this.limitOf(limitBytes);
    await this.store.lock(tx, wanted.accountId);
    const size = await this.store.grow(tx, wanted, limit);
    if (size === null) throw storageFull(limit);
    return size;
  }

  private limitOf(limitBytes: number | null): number {
    return limitBytes ?? this.settings.storageBytesPerAccount;
  }
}

function nextSize(reservedBytes: number, arrivedBytes: number): number {
  const step = Math.min(Math.max(FIRST_STEP_BYTES, reservedBytes), LARGEST_STEP_BYTES);
  return Math.max(reservedBytes + step, arrivedBytes);
}

/** @param limitBytes what the account may store. */
export function storageFull(limitBytes: number): Refusal {
  const message =
    `This account may store ${limitBytes} bytes, and too few of them are left. Delete assets, let them and jobs expire, or ` +
    'ask the operator of this service for more.';
  return new Refusal('storage_full', message, { details: { limit_bytes: limitBytes } });
}
