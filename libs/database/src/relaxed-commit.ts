import { Prisma } from '@prisma/client';

/**
 * A FROM item of a statement whose commit does not wait until it is on the disk, and on a synchronous standby. A crash of PostgreSQL can undo
 * such a statement, up to a second after it was answered, and with it all that came later; nothing that committed as usual after it is left without it.
 * So it is for what nobody was promised and nothing outside is done by, until another statement has committed as usual: see
 * docs/decisions/0030-what-commits-without-waiting.md. Never within a transaction that does more: it holds for all of that.
 */
export const relaxedCommit = Prisma.sql`(SELECT set_config('synchronous_commit', 'off', true)) AS relaxed_commit`;
