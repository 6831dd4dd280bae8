import { Prisma } from '@prisma/client';

/**
 * The pass with which a statement leaves the row `q` of `account_queues` in the pool `p`. An account that could have no turn
 * before it, because it had nothing waiting or ran as many jobs as it may, comes back at the pool's virtual time at the
 * earliest: time without turns earns no credit (Waldspurger and Weihl, section 2, of clients that leave and join again).
 */
export const rejoinedPass = Prisma.sql`CASE WHEN q.eligible THEN q.pass ELSE greatest(q.pass, p.virtual_time) END`;
