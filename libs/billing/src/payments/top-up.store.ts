import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { PAYMENT_PROVIDERS, TOP_UP_STATUSES, type Reversal, type TopUp, type TopUpOrder } from './top-up';
import type { PaymentProviderName, TopUpStatus } from './top-up';

type TopUpRow = Prisma.TopUpGetPayload<object>;

/**
 * The SQL of top-ups. The messages of a provider name no account: the methods for them take the id of the top-up, which only
 * the provider's signed messages contain.
 */
export class TopUpStore {
  /**
   * Record an order, before it is sent to the provider.
   *
   * @param most orders of the last hour that an account may not have paid.
   * @returns false when it has that many.
   */
  async insert(tx: Statements, provider: PaymentProviderName, order: TopUpOrder, most: number): Promise<boolean> {
    const { id, accountId, amountMicros, priceMinor, currency } = order;
    const inserted = await tx.execute(Prisma.sql`
      INSERT INTO top_ups (id, account_id, provider, amount_micros, price_minor, currency)
      SELECT ${id}::uuid, ${accountId}::uuid, ${provider}, ${amountMicros}, ${priceMinor}, ${currency}
      WHERE (SELECT count(*) FROM top_ups WHERE account_id = ${accountId}::uuid AND status <> 'paid'
        AND created_at > now() - interval '1 hour') < ${most}`);
    return inserted === 1;
  }

  /**
   * Record an order again that the database has lost.
   *
   * @returns whether it did: not where the account does not exist, nor where another transaction has.
   */
  async restore(tx: Statements, provider: PaymentProviderName, order: TopUpOrder): Promise<boolean> {
    const { id, accountId, amountMicros, priceMinor, currency } = order;
    const inserted = await tx.execute(Prisma.sql`
      INSERT INTO top_ups (id, account_id, provider, amount_micros, price_minor, currency)
      SELECT ${id}::uuid, a.id, ${provider}, ${amountMicros}::bigint, ${priceMinor}::bigint, ${currency}
      FROM accounts a WHERE a.id = ${accountId}::uuid
      ON CONFLICT (id) DO NOTHING`);
    return inserted === 1;
  }

  async exists(tx: Statements, id: string): Promise<boolean> {
    return (await tx.models.topUp.count({ where: { id } })) > 0;
  }

  async accountExists(tx: Statements, accountId: string): Promise<boolean> {
    return (await tx.models.account.count({ where: { id: accountId } })) > 0;
  }

  async setCheckout(tx: Statements, accountId: string, id: string, reference: string, url: string): Promise<void> {
    const data = { checkoutRef: reference, checkoutUrl: url };
    await tx.models.topUp.updateMany({ where: { id, accountId }, data });
  }

  async find(tx: Statements, accountId: string, id: string): Promise<TopUp | null> {
    const row = await tx.models.topUp.findFirst({ where: { id, accountId } });
    return row === null ? null : topUpOf(row);
  }

  /** Record an event. @returns false when it was recorded before. */
  async insertEvent(
    tx: Statements,
    provider: PaymentProviderName,
    event: { id: string; kind: string; topUpId: string | null },
  ): Promise<boolean> {
    const data = [{ provider, ...event }];
    const { count } = await tx.models.paymentEvent.createMany({ data, skipDuplicates: true });
    return count === 1;
  }

  /**
   * Serialise the transactions about one payment: when a payment and its refund are reported at the same time, the second must
   * see the first.
   */
  async lockPayment(tx: Statements, provider: PaymentProviderName, paymentRef: string): Promise<void> {
    const name = `payment:${provider}:${paymentRef}`;
    await tx.execute(Prisma.sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
  }

  async lock(tx: Statements, id: string): Promise<TopUp | null> {
    await tx.execute(Prisma.sql`SELECT id FROM top_ups WHERE id = ${id}::uuid FOR UPDATE`);
    const row = await tx.models.topUp.findUnique({ where: { id } });
    return row === null ? null : topUpOf(row);
  }

  async findIdByPayment(tx: Statements, provider: PaymentProviderName, paymentRef: string): Promise<string | null> {
    const row = await tx.models.topUp.findFirst({ where: { provider, paymentRef }, select: { id: true } });
    return row?.id ?? null;
  }

  async setPaid(tx: Statements, id: string, { transactionId, checkoutRef, paymentRef }: PaidFacts): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE top_ups SET status = 'paid', paid_at = now(), transaction_id = ${transactionId}::uuid,
        checkout_ref = ${checkoutRef}, payment_ref = ${paymentRef}
      WHERE id = ${id}::uuid`);
  }

  /** @param from the states from which it may change. */
  async setStatus(tx: Statements, id: string, from: readonly TopUpStatus[], status: TopUpStatus): Promise<void> {
    await tx.models.topUp.updateMany({ where: { id, status: { in: [...from] } }, data: { status } });
  }

  /** Record a refund or a dispute as its latest event has it. */
  async putReversal(tx: Statements, provider: PaymentProviderName, reversal: Reversal): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO payment_reversals AS r (provider, id, payment_ref, amount_minor, currency, undone)
      VALUES (${provider}, ${reversal.id}, ${reversal.paymentRef}, ${reversal.amountMinor}, ${reversal.currency},
        ${reversal.undone})
      ON CONFLICT (provider, id) DO UPDATE SET undone = r.undone OR EXCLUDED.undone`);
  }

  /** How much of a payment has gone back, in the smallest unit of its currency. */
  async reversedMinor(tx: Statements, topUp: TopUp): Promise<bigint> {
    const { provider, paymentRef, currency } = topUp;
    if (paymentRef === null) return 0n;
    const { _sum: sum } = await tx.models.paymentReversal.aggregate({
      where: { provider, paymentRef, currency, undone: false },
      _sum: { amountMinor: true },
    });
    return sum.amountMinor ?? 0n;
  }

  async setOwed(tx: Statements, id: string, owedMicros: bigint): Promise<void> {
    await tx.models.topUp.update({ where: { id }, data: { owedMicros } });
  }

  /** Top-ups that owe something and whose account has credits, in the order of their ids. */
  async listOwed(tx: Statements, afterId: string | null, limit: number): Promise<string[]> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT t.id FROM top_ups t JOIN balances b ON b.account_id = t.account_id
      WHERE t.owed_micros > 0 AND b.available_micros > 0 AND (t.id > ${afterId}::uuid) IS NOT FALSE
      ORDER BY t.id LIMIT ${limit}`);
    return rows.map((row) => row.id);
  }
}

interface PaidFacts {
  transactionId: string;
  checkoutRef: string;
  paymentRef: string | null;
}

function topUpOf(row: TopUpRow): TopUp {
  const provider = PAYMENT_PROVIDERS.find((known) => known === row.provider);
  const status = TOP_UP_STATUSES.find((known) => known === row.status);
  if (provider === undefined || status === undefined) throw new Error(`the top-up ${row.id} is of an unknown kind`);
  return { ...row, provider, status };
}
