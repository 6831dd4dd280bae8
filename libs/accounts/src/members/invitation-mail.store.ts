import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** Mails that invited somebody: of an account, or of those the ones to one address. */
export interface InvitationMailsOf {
  accountId: string;
  /** A pseudonym of the address. Absent: to all. */
  address?: Buffer;
}

/** The SQL of mails that invited somebody, which is kept for a day: how many an account has sent, and to whom. */
export class InvitationMailStore {
  async insert(tx: Statements, { accountId, address }: Required<InvitationMailsOf>): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO invitation_mails (id, account_id, address_hash) VALUES (${newId()}::uuid, ${accountId}::uuid, ${address})`);
  }

  /**
   * Seconds until one more may be sent, where `limit` may be in a span of `spanSeconds`; 0: now. The account's row is held, so that no
   * other request counts meanwhile.
   */
  async waitSeconds(
    tx: Statements,
    { accountId, address }: InvitationMailsOf,
    limit: number,
    spanSeconds: number,
  ): Promise<number> {
    const span = Prisma.sql`make_interval(secs => ${spanSeconds})`;
    const toAddress = address === undefined ? Prisma.sql`true` : Prisma.sql`address_hash = ${address}`;
    const [row] = await tx.rows<{ wait: number }>(Prisma.sql`
      SELECT greatest(1, ceil(extract(epoch FROM sent_at + ${span} - now())))::int AS wait FROM invitation_mails
      WHERE account_id = ${accountId}::uuid AND sent_at > now() - ${span} AND ${toAddress}
      ORDER BY sent_at DESC OFFSET ${limit - 1} LIMIT 1`);
    return row?.wait ?? 0;
  }

  /** Delete those that count no more, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM invitation_mails WHERE id IN (
        SELECT id FROM invitation_mails WHERE sent_at < now() - interval '1 day' ORDER BY sent_at LIMIT ${batch})`);
  }
}
