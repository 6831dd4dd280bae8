import { newId } from '@millrace/contracts';
import { repeatUndone, type Database, type Statements } from '@millrace/database';
import type { Logger } from '@millrace/platform';
import type { CreditsService } from '../credits';
import { assertConfigured, type PaymentProvider } from './payment-provider';
import { LostOrders } from './lost-orders';
import type { PostingStore } from '../ledger';
import { creditsText } from '../price';
import { reversedMicros, type PaidNotice, type PaymentNotice, type Reversal, type TopUp } from './top-up';
import type { TopUpStore } from './top-up.store';

/** What a payment changed on an account, for the audit log. */
export interface PaymentAct {
  action: 'top_up.pay' | 'top_up.refuse' | 'top_up.reverse';
  subjectType: 'top_up';
  subjectId: string;
  accountId: string;
  details: Record<string, string | number | null>;
}

/** Records an act in the transaction that does it. */
export type RecordPaymentAct = (tx: Statements, act: PaymentAct) => Promise<void>;

/** The messages of a payment provider, and what they change on accounts. */
export class PaymentsService {
  private readonly lostOrders: LostOrders;

  /** @param provider null where credits are not sold. */
  constructor(
    private readonly database: Database,
    private readonly store: TopUpStore,
    private readonly postings: PostingStore,
    private readonly credits: CreditsService,
    private readonly logger: Logger,
    private readonly provider: PaymentProvider | null,
  ) {
    this.lostOrders = new LostOrders(store, logger);
  }

  /** @throws Refusal `payments_not_configured` where no provider sends messages. */
  assertConfigured(): void {
    assertConfigured(this.provider);
  }

  /**
   * Apply a message of the provider, in one transaction and once. A message states a fact that stays true, so messages may
   * arrive in any order and any number of times. Where PostgreSQL undoes the transaction in favour of others, that it has arrived is undone with what
   * it changed, and both are done again.
   *
   * @param record writes through its transaction alone: it may be called again.
   * @throws Refusal `payments_not_configured`, `invalid_request` when the provider has not signed it, and what `LostOrders` throws
   * of an order that is not in the database: nothing is recorded then, and the message counts when it is sent again.
   */
  async receive(body: Buffer, signature: string | undefined, record: RecordPaymentAct): Promise<void> {
    const provider = assertConfigured(this.provider);
    const notice = provider.readNotice(body, signature);
    if (notice.kind === 'other') return;
    await repeatUndone(() => this.database.transaction((tx) => this.receiveIn(tx, provider, notice, record)));
  }

  private async receiveIn(
    tx: Statements,
    provider: PaymentProvider,
    notice: Exclude<PaymentNotice, { kind: 'other' }>,
    record: RecordPaymentAct,
  ): Promise<void> {
    const order = notice.kind === 'paid' ? await this.lostOrders.restore(tx, provider, notice) : 'known';
    // It is not recorded, so that it counts when it is sent again and the order is there.
    if (order === 'missing') return;
    const topUpId = notice.kind === 'reversal' ? null : notice.topUpId;
    const isNew = await this.store.insertEvent(tx, provider.name, { id: notice.id, kind: notice.kind, topUpId });
    // That the message was recorded without its order added no credits.
    if (!isNew && order !== 'restored') return;
    if (notice.kind === 'paid') await this.settle(tx, provider, notice, record);
    else if (notice.kind === 'reversal') await this.reverse(tx, provider, notice.reversal, record);
    else await this.store.setStatus(tx, notice.topUpId, ['open'], notice.kind);
  }

  /** Top-ups that owe credits which their accounts now have, in the order of their ids. @param afterId null: from the first. */
  async listOwed(afterId: string | null, limit: number): Promise<string[]> {
    return this.store.listOwed(this.database, afterId, limit);
  }

  /** Take back what refunds and disputes called for when the account did not have it. @returns whether there was any. */
  async collect(id: string): Promise<boolean> {
    const collected = (): Promise<boolean> =>
      this.database.transaction(async (tx) => {
        const topUp = await this.store.lock(tx, id);
        return topUp !== null && (await this.applyReversals(tx, topUp)).changedMicros !== 0n;
      });
    return repeatUndone(collected);
  }

  private async settle(
    tx: Statements,
    provider: PaymentProvider,
    notice: PaidNotice,
    record: RecordPaymentAct,
  ): Promise<void> {
    const { topUpId: id, checkoutRef, paymentRef } = notice;
    if (paymentRef !== null) await this.store.lockPayment(tx, provider.name, paymentRef);
    const topUp = await this.store.lock(tx, id);
    if (topUp === null) throw new Error(`the top-up ${id} was there a moment ago`);
    if (topUp.status === 'paid') return;
    const { accountId, amountMicros, priceMinor, currency } = topUp;
    const act = { subjectType: 'top_up' as const, subjectId: id, accountId };
    const paid = { event: notice.id, amountMicros: Number(amountMicros), currency: notice.currency };
    const details = { ...paid, paidMinor: notice.amountMinor === null ? null : Number(notice.amountMinor) };
    if (notice.amountMinor !== priceMinor || notice.currency !== currency) {
      await this.store.setStatus(tx, id, ['open', 'failed', 'expired'], 'refused');
      await record(tx, { ...act, action: 'top_up.refuse', details });
      this.logger.error({ topUpId: id, ...details }, 'another amount was paid than ordered; no credits were added');
      return;
    }
    const book = await this.credits.open(tx, accountId);
    const reason = `Top-up ${id}, ${checkoutRef}.`;
    const note = { cause: `top_up:${id}`, actor: provider.name, reason };
    const transactionId = await book.topUp(note, amountMicros);
    await this.store.setPaid(tx, id, { transactionId, checkoutRef, paymentRef });
    await record(tx, { ...act, action: 'top_up.pay', details });
    await this.applyReversals(tx, { ...topUp, status: 'paid', transactionId, paymentRef });
  }

  private async reverse(
    tx: Statements,
    provider: PaymentProvider,
    reversal: Reversal,
    record: RecordPaymentAct,
  ): Promise<void> {
    const { paymentRef, currency } = reversal;
    await this.store.lockPayment(tx, provider.name, paymentRef);
    await this.store.putReversal(tx, provider.name, reversal);
    const id = await this.store.findIdByPayment(tx, provider.name, paymentRef);
    const topUp = id === null ? null : await this.store.lock(tx, id);
    // A payment that is not recorded yet, or not ours.
    if (topUp === null) return;
    if (currency !== topUp.currency) {
      this.logger.error(
        { topUpId: id, reversal: reversal.id, currency },
        'a refund is not in the currency of its payment',
      );
      return;
    }
    const { changedMicros, owedMicros } = await this.applyReversals(tx, topUp);
    await record(tx, {
      action: 'top_up.reverse',
      subjectType: 'top_up',
      subjectId: topUp.id,
      accountId: topUp.accountId,
      details: {
        reversal: reversal.id,
        undone: String(reversal.undone),
        changedMicros: Number(changedMicros),
        owedMicros: Number(owedMicros),
      },
    });
  }

  /**
   * Bring the ledger to what the payment's refunds and disputes call for, as far as the account has it. What jobs hold or have
   * spent is not taken, and stays owed.
   */
  private async applyReversals(tx: Statements, topUp: TopUp): Promise<{ changedMicros: bigint; owedMicros: bigint }> {
    const { id, accountId, provider, transactionId } = topUp;
    if (transactionId === null) return { changedMicros: 0n, owedMicros: 0n };
    const book = await this.credits.open(tx, accountId);
    const original = await this.postings.findOriginal(tx, accountId, transactionId);
    if (original === null) throw new Error(`the top-up ${id} names a transaction that its account does not have`);
    const wanted = reversedMicros(topUp, await this.store.reversedMinor(tx, topUp)) - original.takenBackMicros;
    const change = wanted > book.availableMicros ? book.availableMicros : wanted;
    const reason = change > 0n ? `Money of the top-up ${id} went back.` : `Money of the top-up ${id} stays after all.`;
    const note = { cause: `top_up:${id}:reversal:${newId()}`, actor: provider, reason };
    if (change > 0n) await book.takeBack(note, original, change);
    if (change < 0n) await book.restore(note, original, -change);
    const owedMicros = wanted > change ? wanted - change : 0n;
    await this.store.setOwed(tx, id, owedMicros);
    if (owedMicros > 0n) {
      const owed = creditsText(owedMicros);
      this.logger.warn({ topUpId: id, accountId, owed }, 'credits of a refunded payment are spent or held');
    }
    return { changedMicros: -change, owedMicros };
  }
}
