import { z } from 'zod';
import type { Rebuild } from '@millrace/billing';

/** Lots and holds in one answer, each; as many are in the audit log. */
const SHOWN = 100;

const micros = z.int();

export const RebuildRequestSchema = z
  .object({
    dry_run: z.boolean().default(false).meta({ description: 'True shows what would change, and changes nothing.' }),
  })
  .meta({ id: 'BalanceRebuildRequest', description: 'How to rebuild a balance.' });

const StoredBalanceSchema = z.object({
  available_micros: micros,
  held_micros: micros,
  consumed_micros: micros.meta({ description: 'What has left the account, other than by expiry.' }),
  drawn_micros: micros.meta({ description: 'The part of it that lots were drawn for.' }),
});
const amounts = z.object({ remaining_micros: micros, drawn_micros: micros });
const holds = z.array(z.object({ job_id: z.uuid(), held_micros: micros, charged_micros: micros }));

export const BalanceRebuildSchema = z
  .object({
    dry_run: z.boolean(),
    changed: z
      .boolean()
      .meta({ description: 'False where balance, lots and ledger agree. Of a dry run: what would be.' }),
    before: StoredBalanceSchema,
    after: StoredBalanceSchema,
    granted_micros: micros.meta({
      description: 'Given to the account, which has spent so much more than it ever had: a balance is never negative.',
    }),
    lots_changed: z.int(),
    lots: z
      .array(z.object({ transaction_id: z.uuid(), before: amounts.nullable(), after: amounts }))
      .meta({ description: `The first ${SHOWN} of them. A grant that a dry run shows is made under another id.` }),
    holds_ended: z.int().meta({ description: 'Holds of jobs that have ended, or are no more.' }),
    ended: holds.meta({ description: `The first ${SHOWN} of them.` }),
    holds_left: z.int().meta({
      description:
        'Such holds of which a dry run finds that what the job was charged is of another day (UTC), or that its usage record has another amount. ' +
        'While the ledger lacks their ends, a rebuild is refused.',
    }),
    left: holds.meta({ description: `The first ${SHOWN} of them.` }),
  })
  .meta({
    id: 'BalanceRebuild',
    description: "What a rebuild made of an account's credits, in millionths of a credit.",
  });

/** A rebuild on the wire, and in the audit log. */
export function presentRebuild(rebuild: Rebuild, isDryRun: boolean): z.output<typeof BalanceRebuildSchema> {
  return {
    dry_run: isDryRun,
    changed: rebuild.isChanged,
    before: presentStored(rebuild.before),
    after: presentStored(rebuild.after),
    granted_micros: Number(rebuild.grant?.micros ?? 0n),
    lots_changed: rebuild.lots.length,
    lots: rebuild.lots.slice(0, SHOWN).map(({ transactionId, before, after }) => ({
      transaction_id: transactionId,
      before: before && presentAmounts(before),
      after: presentAmounts(after),
    })),
    holds_ended: rebuild.ended.length,
    ended: rebuild.ended.slice(0, SHOWN).map(presentHold),
    holds_left: rebuild.left.length,
    left: rebuild.left.slice(0, SHOWN).map(presentHold),
  };
}

function presentStored(balance: Rebuild['before']): z.output<typeof StoredBalanceSchema> {
  return {
    available_micros: Number(balance.availableMicros),
    held_micros: Number(balance.heldMicros),
    consumed_micros: Number(balance.consumedMicros),
    drawn_micros: Number(balance.drawnMicros),
  };
}

function presentAmounts(lot: Rebuild['lots'][number]['after']): z.output<typeof amounts> {
  return { remaining_micros: Number(lot.remainingMicros), drawn_micros: Number(lot.drawnMicros) };
}

function presentHold({ jobId, heldMicros, chargedMicros }: Rebuild['ended'][number]): z.output<typeof holds>[number] {
  return { job_id: jobId, held_micros: Number(heldMicros), charged_micros: Number(chargedMicros) };
}
