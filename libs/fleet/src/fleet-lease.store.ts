import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** The SQL of who leads a fleet. Time is PostgreSQL's. */
export class FleetLeaseStore {
  /**
   * Take the lead, or keep it.
   *
   * @returns the fence of this holder; null while another one leads.
   */
  async take(tx: Statements, name: string, holder: string, seconds: number): Promise<bigint | null> {
    const [row] = await tx.query<{ fence: bigint | string }>(Prisma.sql`
      INSERT INTO fleet_leases AS l (name, holder, fence, expires_at)
      VALUES (${name}, ${holder}::uuid, 1, now() + make_interval(secs => ${seconds}))
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
        fence = CASE WHEN l.holder = excluded.holder THEN l.fence ELSE l.fence + 1 END
      WHERE l.holder = excluded.holder OR l.expires_at < now()
      RETURNING fence`);
    return row === undefined ? null : BigInt(row.fence);
  }

  /** Let another one lead at once. */
  async release(tx: Statements, name: string, holder: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE fleet_leases SET expires_at = '-infinity' WHERE name = ${name} AND holder = ${holder}::uuid`);
  }
}
