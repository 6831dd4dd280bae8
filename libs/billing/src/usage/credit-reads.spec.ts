import type { Statements } from '@millrace/database';
import { eventually } from '@millrace/testing';
import { CreditReads } from './credit-reads.service';
import type { UsageStore } from './usage.store';

describe('reports of one account', () => {
  it('are made one after the other, and its balance waits for none', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const hold = (name: string, answer: unknown) => (): Promise<never> => {
      begun.push(name);
      return new Promise((resolve) => ends.push(() => resolve(answer as never)));
    };
    const reads = new CreditReads(
      {} as Statements,
      { balance: hold('balance', {}) },
      { page: hold('ledger', []), statement: hold('statement', {}) },
      { report: hold('usage', {}) } as unknown as UsageStore,
    );
    const span = { from: new Date(0), to: new Date(1) };
    const all = [
      reads.usage({ accountId: 'a', labels: null }, span, { by: 'label', label: 'user' }),
      reads.statement('a', span),
      reads.ledgerPage('a', { cursor: null, limit: 10 }),
      reads.balance('a'),
      reads.usage({ accountId: 'b', labels: null }, span, { by: 'day' }),
    ];
    expect(begun).toEqual(['usage', 'balance', 'usage']);
    for (let answered = 0; answered < all.length; answered += 1) {
      await eventually('a read began', () => ends.length > 0);
      ends.shift()?.();
    }
    await Promise.all(all);
    expect(begun.slice(3)).toEqual(['statement', 'ledger']);
  });
});
