import { Prisma } from '@prisma/client';
import { newId, type MemberRole } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { SessionGrant, SignInOffer } from './console-session';

/** A link for the browser that asked for it. */
interface BrowserLink extends SessionGrant {
  hash: Buffer;
  browser: Buffer;
  /** A pseudonym of the network from which it asked. */
  network: Buffer;
}

interface OfferRow {
  accountId: string;
  name: string;
  email: string | null;
  role: MemberRole | null;
  askedHere: boolean;
}

/** The SQL of links that sign in once. */
export class SignInLinkStore {
  /** @returns its id, and when it expires. */
  async create(
    tx: Statements,
    { accountId, apiKeyId }: SessionGrant,
    hash: Buffer,
    lifeSeconds: number,
  ): Promise<{ id: string; expiresAt: Date }> {
    const [row] = await tx.rows<{ id: string; expiresAt: Date }>(Prisma.sql`
      INSERT INTO sign_in_links (id, account_id, api_key_id, token_hash, expires_at)
      VALUES (${newId()}::uuid, ${accountId}::uuid, ${apiKeyId}::uuid, ${hash}, now() + make_interval(secs => ${lifeSeconds}))
      RETURNING id, expires_at`);
    return row as { id: string; expiresAt: Date };
  }

  /**
   * Make a link that counts in one browser alone, unless its key has as many of them as it may at a time: for this browser, from this
   * network, or in all.
   *
   * @returns false when it has.
   */
  async createForBrowser(
    tx: Statements,
    { accountId, apiKeyId, hash, browser, network }: BrowserLink,
    lifeSeconds: number,
    atATime: { ofBrowser: number; ofNetwork: number; ofAll: number },
  ): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      INSERT INTO sign_in_links (id, account_id, api_key_id, token_hash, browser_hash, network_hash, expires_at)
      SELECT ${newId()}::uuid, ${accountId}::uuid, ${apiKeyId}::uuid, ${hash}, ${browser}, ${network}, now() + make_interval(secs => ${lifeSeconds})
      FROM (
        SELECT count(*) FILTER (WHERE browser_hash = ${browser}) AS of_browser, count(*) FILTER (WHERE network_hash = ${network}) AS of_network,
          count(*) AS of_all
        FROM sign_in_links
        WHERE account_id = ${accountId}::uuid AND api_key_id = ${apiKeyId}::uuid AND expires_at > now() AND browser_hash IS NOT NULL
      ) open
      WHERE open.of_browser < ${atATime.ofBrowser} AND open.of_network < ${atATime.ofNetwork} AND open.of_all < ${atATime.ofAll}`);
    return count > 0;
  }

  /**
   * Use a link up: of two that try, one gets it.
   *
   * @param browser of who presents it. One that was made for another browser stays as it is.
   * @returns null when it was used, has expired, or is for another browser.
   */
  async take(tx: Statements, hash: Buffer, browser: Buffer | null): Promise<SessionGrant | null> {
    const [row] = await tx.rows<SessionGrant>(Prisma.sql`
      DELETE FROM sign_in_links WHERE token_hash = ${hash} AND expires_at > now() AND (browser_hash IS NULL OR browser_hash = ${browser}) RETURNING account_id, api_key_id`);
    return row ?? null;
  }

  /** What a link signs in to, which stays as it is. @returns null when `take` would give nothing. */
  async look(tx: Statements, hash: Buffer, browser: Buffer | null): Promise<SignInOffer | null> {
    const [row] = await tx.rows<OfferRow>(Prisma.sql`
      SELECT l.account_id, a.name, m.email, m.role, l.browser_hash IS NOT NULL AS asked_here
      FROM sign_in_links l
      JOIN accounts a ON a.id = l.account_id
      LEFT JOIN api_keys k ON k.id = l.api_key_id
      LEFT JOIN members m ON m.id = k.member_id
      WHERE l.token_hash = ${hash} AND l.expires_at > now() AND (l.browser_hash IS NULL OR l.browser_hash = ${browser})`);
    if (row === undefined) return null;
    const { accountId, name, email, role, askedHere } = row;
    return {
      account: { id: accountId, name },
      member: email === null || role === null ? null : { email, role },
      askedHere,
    };
  }

  /** Whose link it is, whether or not it counts here; null when it was used. */
  async find(tx: Statements, hash: Buffer): Promise<{ id: string; accountId: string } | null> {
    const [row] = await tx.rows<{ id: string; accountId: string }>(
      Prisma.sql`SELECT id, account_id FROM sign_in_links WHERE token_hash = ${hash}`,
    );
    return row ?? null;
  }

  /** Delete links that have expired, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM sign_in_links WHERE id IN (
        SELECT id FROM sign_in_links WHERE expires_at < now() ORDER BY expires_at LIMIT ${batch})`);
  }
}
