import { Prisma } from '@prisma/client';
import { statementPart, type StatementPart, type Statements } from '@millrace/database';

/** The reason with which a statement refuses itself when the account's storage is full. */
export const STORAGE_FULL = 'storage_full';

/** Room that bytes on their way in have until they are a blob. */
export interface ReservedRoom {
  id: string;
  accountId: string;
  sizeBytes: number;
}

/** What an account's counter says, and what its blobs add up to. */
export interface StorageCount {
  accountId: string;
  countedBytes: number;
  storedBytes: number;
}

const room = (accountId: string): Prisma.Sql => Prisma.sql`
  SELECT coalesce(sum(s.stored_bytes), 0) + (
    SELECT coalesce(sum(r.size_bytes), 0) FROM storage_reservations r
    WHERE r.account_id = ${accountId}::uuid AND r.expires_at > now())
  FROM account_storage s WHERE s.account_id = ${accountId}::uuid`;

/**
 * The SQL of what accounts store. A trigger counts blobs in `account_storage`. That row is the lock under which room is
 * decided: reservations of an account come one after the other, and each sees those before it.
 */
export class StorageStore {
  /** Hold an account's counter until the transaction ends; the next statement sees all that was reserved and stored before. */
  async lock(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO account_storage AS s (account_id) VALUES (${accountId}::uuid)
      ON CONFLICT (account_id) DO UPDATE SET stored_bytes = s.stored_bytes`);
  }

  /** Reserve room, under `lock`. @returns false when there is too little. */
  async reserve(
    tx: Statements,
    draft: ReservedRoom,
    terms: { limitBytes: number; lifeSeconds: number },
  ): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      INSERT INTO storage_reservations (id, account_id, size_bytes, expires_at)
      SELECT ${draft.id}::uuid, ${draft.accountId}::uuid, ${draft.sizeBytes},
        now() + make_interval(secs => ${terms.lifeSeconds})
      WHERE (${room(draft.accountId)}) + ${draft.sizeBytes} <= ${terms.limitBytes}`);
    return count > 0;
  }

  /**
   * Make a reservation larger, under `lock`: to `sizeBytes`, or to what is left, and at least to `leastBytes`.
   *
   * @returns its size now; null when there is too little room, or the reservation expired.
   */
  async grow(
    tx: Statements,
    { id, accountId, sizeBytes, leastBytes }: ReservedRoom & { leastBytes: number },
    limitBytes: number,
  ): Promise<number | null> {
    const [row] = await tx.rows<{ sizeBytes: number }>(Prisma.sql`
      UPDATE storage_reservations g SET size_bytes = least(${sizeBytes}, ${limitBytes} - used.bytes + g.size_bytes)
      FROM (${room(accountId)}) AS used (bytes)
      WHERE g.id = ${id}::uuid AND g.account_id = ${accountId}::uuid
        AND used.bytes - g.size_bytes + ${leastBytes} <= ${limitBytes}
      RETURNING g.size_bytes::float8`);
    return row?.sizeBytes ?? null;
  }

  /** Without effect when it is gone. */
  async release(tx: Statements, id: string): Promise<void> {
    await tx.execute(Prisma.sql`DELETE FROM storage_reservations WHERE id = ${id}::uuid`);
  }

  /** Bytes that count against an account's limit: its blobs, and what is on its way in. */
  async usedBytes(tx: Statements, accountId: string): Promise<number> {
    const [row] = await tx.rows<{ usedBytes: number }>(Prisma.sql`SELECT (${room(accountId)})::float8 AS used_bytes`);
    return row?.usedBytes ?? 0;
  }

  /** Delete reservations that expired: their processes died. @returns how many. */
  async sweepReservations(tx: Statements, limit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM storage_reservations WHERE id IN (
        SELECT id FROM storage_reservations WHERE expires_at <= now() ORDER BY expires_at LIMIT ${limit})`);
  }

  /** The ids of all accounts, a page in their order. @param afterId null: from the first. */
  async accounts(tx: Statements, afterId: string | null, limit: number): Promise<string[]> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT a.id FROM accounts a WHERE (a.id > ${afterId}::uuid) IS NOT FALSE ORDER BY a.id LIMIT ${limit}`);
    return rows.map(({ id }) => id);
  }

  /** Counters beside what they should be, of these accounts, in the order of their ids. Reads the row of each of their blobs. */
  async counts(tx: Statements, accountIds: readonly string[]): Promise<StorageCount[]> {
    return tx.rows(Prisma.sql`
      SELECT a.id AS account_id, coalesce(s.stored_bytes, 0)::float8 AS counted_bytes,
        (SELECT coalesce(sum(b.size_bytes), 0) FROM blobs b WHERE b.account_id = a.id)::float8 AS stored_bytes
      FROM accounts a LEFT JOIN account_storage s ON s.account_id = a.id
      WHERE a.id = ANY(${[...accountIds]}::uuid[]) ORDER BY a.id`);
  }

  /** Delete the counters of an account that is about to be deleted. */
  async forgetAccount(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`DELETE FROM upload_days WHERE account_id = ${accountId}::uuid`);
    await tx.execute(Prisma.sql`DELETE FROM account_storage WHERE account_id = ${accountId}::uuid`);
  }

  /** Count an account's blobs again. @returns by how many bytes the count was too large. */
  async recount(tx: Statements, accountId: string): Promise<number> {
    const [row] = await tx.rows<{ excessBytes: number }>(Prisma.sql`
      SELECT recount_stored_bytes(${accountId}::uuid)::float8 AS excess_bytes`);
    return row?.excessBytes ?? 0;
  }
}

/**
 * Refuses the statement when the account's blobs fill its storage, without a lock: what makes outputs needs this look before,
 * and may exceed the limit after it (decision 19).
 *
 * @param after a part that must have yielded its row first.
 */
export function storageNotFullPart(
  { accountId, storageBytes }: { accountId: string; storageBytes: number },
  after: StatementPart,
): StatementPart {
  return statementPart('storage')`
    SELECT FROM ${after} WHERE coalesce((
      SELECT s.stored_bytes FROM account_storage s WHERE s.account_id = ${accountId}::uuid
    ), 0) < ${storageBytes} OR refuse(${STORAGE_FULL})`;
}

/**
 * Refuses the statement when the blobs of any of the accounts fill its storage, as `storageNotFullPart` does for one. Yields
 * a row for each that `accounts` yields.
 *
 * @param after a part that must have run first.
 */
export function storagesNotFullPart(
  accounts: StatementPart<'account_id' | 'storage_bytes'>,
  after: StatementPart,
): StatementPart {
  return statementPart('storages')`
    SELECT FROM ${accounts} a, (SELECT count(*) FROM ${after}) AS done WHERE coalesce((
      SELECT s.stored_bytes FROM account_storage s WHERE s.account_id = a.account_id
    ), 0) < a.storage_bytes OR refuse(${STORAGE_FULL})`;
}
