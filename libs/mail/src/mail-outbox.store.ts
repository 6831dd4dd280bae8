import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** A mail that one process sends now. */
export interface ClaimedMail {
  id: string;
  sealed: Buffer;
  /** How often it was claimed: the fence of this claim. */
  attempts: number;
}

interface NewMail {
  id: string;
  accountId: string;
  sealed: Buffer;
  lifeSeconds: number;
}

/** The SQL of mails that are to be sent. One that was sent, or came too late, is deleted. */
export class MailOutboxStore {
  async insert(tx: Statements, { id, accountId, sealed, lifeSeconds }: NewMail): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO mail_messages (id, account_id, sealed, expires_at)
      VALUES (${id}::uuid, ${accountId}::uuid, ${sealed}, now() + make_interval(secs => ${lifeSeconds}))`);
  }

  /**
   * Take mails that are due: nobody else does before the lease is over. The accounts take turns, so that however much one has sent, it keeps
   * nobody else's waiting; of each what is of use for the shortest time is first, such as a link that signs in.
   */
  async claim(tx: Statements, limit: number, leaseSeconds: number): Promise<ClaimedMail[]> {
    return tx.rows(Prisma.sql`
      UPDATE mail_messages SET attempts = attempts + 1, due_at = now() + make_interval(secs => ${leaseSeconds})
      WHERE id IN (
        SELECT m.id FROM mail_messages m JOIN (
          SELECT id, row_number() OVER (PARTITION BY account_id ORDER BY expires_at, id) AS turn
          FROM mail_messages WHERE due_at <= now() AND expires_at > now()
        ) due ON due.id = m.id
        WHERE m.due_at <= now()
        ORDER BY due.turn, m.expires_at, m.id LIMIT ${limit} FOR UPDATE OF m SKIP LOCKED)
      RETURNING id, sealed, attempts`);
  }

  /** Forget a mail that was sent, or never can be. A claim that was lost changes nothing. */
  async delete(tx: Statements, { id, attempts }: ClaimedMail): Promise<void> {
    await tx.execute(Prisma.sql`DELETE FROM mail_messages WHERE id = ${id}::uuid AND attempts = ${attempts}`);
  }

  /** Try a mail again later. */
  async postpone(tx: Statements, { id, attempts }: ClaimedMail, waitSeconds: number): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE mail_messages SET due_at = now() + make_interval(secs => ${waitSeconds})
      WHERE id = ${id}::uuid AND attempts = ${attempts}`);
  }

  /** Delete mails that came too late, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM mail_messages WHERE id IN (
        SELECT id FROM mail_messages WHERE expires_at <= now() ORDER BY expires_at LIMIT ${batch})`);
  }
}
