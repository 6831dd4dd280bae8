import { Prisma } from '@prisma/client';
import { newId, type MemberRole } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { isLive } from '../api-key.store';
import { keysOfMembers, type Member } from './member.store';

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
  /** As the audit log names who acts: `member:<id>` or `api_key:<id>`. */
  invitedBy: string;
  lifeSeconds: number;
}

const columns = Prisma.sql`id, account_id, email, role, created_at, expires_at`;

/**
 * Whether who made the invitation `i` could make it now: a member who is an owner, or a key of which itself or a successor works. What a key
 * made goes on with its successors, and ends with the last of them, also when that expires.
 */
const inviterWorks = Prisma.sql`(
  EXISTS (SELECT FROM members m WHERE m.account_id = i.account_id AND m.role = 'owner' AND m.removed_at IS NULL
    AND m.id = CASE WHEN i.invited_by LIKE 'member:%' THEN split_part(i.invited_by, ':', 2)::uuid END)
  OR EXISTS (
    WITH RECURSIVE line (id, rotated_to) AS (
      SELECT first.id, first.rotated_to FROM api_keys first WHERE first.account_id = i.account_id
        AND first.id = CASE WHEN i.invited_by LIKE 'api_key:%' THEN split_part(i.invited_by, ':', 2)::uuid END
      UNION SELECT next.id, next.rotated_to FROM api_keys next JOIN line ON next.id = line.rotated_to
    )
    SELECT FROM line JOIN api_keys k ON k.id = line.id WHERE ${isLive}))`;
/** Whether the invitation `i` can be accepted. */
const isOpen = Prisma.sql`i.expires_at > now() AND ${inviterWorks}`;

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
      SELECT ${columns} FROM invitations i WHERE i.account_id = ${accountId}::uuid AND ${isOpen} ORDER BY i.id DESC`);
  }

  /** Take an invitation back. @returns null where there is none. */
  async delete(tx: Statements, accountId: string, id: string): Promise<Invitation | null> {
    const [row] = await tx.rows<Invitation>(Prisma.sql`
      DELETE FROM invitations WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid RETURNING ${columns}`);
    return row ?? null;
  }

  /** Take back what a member invited in sessions, by their keys, and by keys that these made. @returns the ids. */
  async deleteOfMember(tx: Statements, { accountId, id }: Pick<Member, 'accountId' | 'id'>): Promise<string[]> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      WITH RECURSIVE family (id) AS (${keysOfMembers(Prisma.sql`SELECT ${id}::uuid`)})
      DELETE FROM invitations i
      WHERE i.account_id = ${accountId}::uuid
        AND (i.invited_by = ${`member:${id}`} OR i.invited_by IN (SELECT 'api_key:' || family.id FROM family))
      RETURNING i.id`);
    return rows.map((row) => row.id);
  }

  /** Take back what these keys invited. @returns the ids. */
  async deleteOfKeys(tx: Statements, accountId: string, keys: string[]): Promise<string[]> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      DELETE FROM invitations i
      WHERE i.account_id = ${accountId}::uuid AND i.invited_by = ANY(${keys.map((key) => `api_key:${key}`)}::text[])
      RETURNING i.id`);
    return rows.map((row) => row.id);
  }

  /** Whose invitation it is. @returns null when it was used or replaced, or has expired, or who made it works no more. */
  async accountOf(tx: Statements, hash: Buffer): Promise<string | null> {
    const [row] = await tx.rows<{ accountId: string }>(Prisma.sql`
      SELECT i.account_id FROM invitations i WHERE i.token_hash = ${hash} AND ${isOpen}`);
    return row?.accountId ?? null;
  }

  /** An invitation, which stays as it is, and the name of its account. @returns null when `take` would give nothing. */
  async look(tx: Statements, hash: Buffer): Promise<(Invitation & { accountName: string }) | null> {
    const [row] = await tx.rows<Invitation & { accountName: string }>(Prisma.sql`
      SELECT ${columns}, (SELECT name FROM accounts WHERE accounts.id = account_id) AS account_name
      FROM invitations i WHERE i.token_hash = ${hash} AND ${isOpen}`);
    return row ?? null;
  }

  /** Use an invitation up: of two that try, one gets it. @returns null as `accountOf` does. */
  async take(tx: Statements, hash: Buffer): Promise<Invitation | null> {
    const [row] = await tx.rows<Invitation>(Prisma.sql`
      DELETE FROM invitations i WHERE i.token_hash = ${hash} AND ${isOpen} RETURNING ${columns}`);
    return row ?? null;
  }

  /** Delete invitations that have expired, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM invitations WHERE id IN (
        SELECT id FROM invitations WHERE expires_at < now() ORDER BY expires_at LIMIT ${batch})`);
  }
}
