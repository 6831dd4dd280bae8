import { Prisma } from '@prisma/client';
import { newId, type MemberRole } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** Who was asked to become a member of an account, and has not answered yet. */
export interface Invitation {
  id: string;
  accountId: string;
  /** In lower case. */
  email: string;
  role: MemberRole;
  createdAt: Date;
  expiresAt: Date;
}

interface NewInvitation extends Pick<Invitation, 'accountId' | 'email' | 'role'> {
  hash: Buffer;
  invitedBy: string;
  lifeSeconds: number;
}

const columns = Prisma.sql`id, account_id, email, role, created_at, expires_at`;

/** The SQL of invitations. One that was accepted or taken back is deleted. */
export class InvitationStore {
  /** Invite somebody. An invitation of the same address is replaced: its link counts no more. */
  async put(tx: Statements, { hash, invitedBy, lifeSeconds, ...of }: NewInvitation): Promise<Invitation> {
    const [row] = await tx.rows<Invitation>(Prisma.sql`
      INSERT INTO invitations (id, account_id, email, role, token_hash, invited_by, expires_at)
      VALUES (${newId()}::uuid, ${of.accountId}::uuid, ${of.email}, ${of.role}, ${hash}, ${invitedBy},
              now() + make_interval(secs => ${lifeSeconds}))
      ON CONFLICT (account_id, email) DO UPDATE SET id = excluded.id, role = excluded.role, token_hash = excluded.token_hash,
        invited_by = excluded.invited_by, created_at = now(), expires_at = excluded.expires_at
      RETURNING ${columns}`);
    return row as Invitation;
  }

  /** Those that can still be accepted, newest first. */
  async list(tx: Statements, accountId: string): Promise<Invitation[]> {
    return tx.rows(Prisma.sql`
      SELECT ${columns} FROM invitations WHERE account_id = ${accountId}::uuid AND expires_at > now() ORDER BY id DESC`);
  }

  /** Take an invitation back. @returns null where there is none. */
  async delete(tx: Statements, accountId: string, id: string): Promise<Invitation | null> {
    const [row] = await tx.rows<Invitation>(Prisma.sql`
      DELETE FROM invitations WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid RETURNING ${columns}`);
    return row ?? null;
  }

  /** Use an invitation up: of two that try, one gets it. @returns null when it was used or replaced, or has expired. */
  async take(tx: Statements, hash: Buffer): Promise<Invitation | null> {
    const [row] = await tx.rows<Invitation>(Prisma.sql`
      DELETE FROM invitations WHERE token_hash = ${hash} AND expires_at > now() RETURNING ${columns}`);
    return row ?? null;
  }

  /** Delete invitations that have expired, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM invitations WHERE id IN (
        SELECT id FROM invitations WHERE expires_at < now() ORDER BY expires_at LIMIT ${batch})`);
  }
}
