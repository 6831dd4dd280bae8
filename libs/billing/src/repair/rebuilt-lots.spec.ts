import { rebuildLots, type LotState } from './rebuilt-lots';

const lot = (transactionId: string, broughtMicros: bigint, stored: [bigint, bigint] | null): LotState => ({
  transactionId,
  expiresAt: transactionId === 'never' ? null : new Date(transactionId),
  broughtMicros,
  stored: stored && { remainingMicros: stored[0], drawnMicros: stored[1] },
  isBound: true,
});
const EARLY = '2030-01-01';
const LATE = '2030-02-01';

const rebuilt = (
  lots: LotState[],
  balance: { drawnMicros: bigint; consumedMicros: bigint },
): { lots: Record<string, [bigint, bigint]>; drawnMicros: bigint } => {
  const { changes, drawnMicros } = rebuildLots(lots, balance);
  const amounts = changes.map(({ transactionId, after }) => {
    return [transactionId, [after.remainingMicros, after.drawnMicros]] as [string, [bigint, bigint]];
  });
  return { lots: Object.fromEntries(amounts), drawnMicros };
};

it('changes no lot where all agree, also where charges are still to be drawn', () => {
  const lots = [lot(EARLY, 10n, [4n, 6n]), lot('never', 20n, [20n, 0n])];
  expect(rebuilt(lots, { drawnMicros: 6n, consumedMicros: 6n })).toEqual({ lots: {}, drawnMicros: 6n });
  expect(rebuilt(lots, { drawnMicros: 6n, consumedMicros: 9n })).toEqual({ lots: {}, drawnMicros: 6n });
});

it.each([
  ['more is left of it', [11n, 6n]],
  ['less is left of it', [1n, 6n]],
  ['more was drawn from it', [4n, 9n]],
  ['less was drawn from it', [4n, 2n]],
  ['it is gone', null],
] as [string, [bigint, bigint] | null][])('makes one lot again what it was where %s', (_, stored) => {
  const lots = [lot(EARLY, 10n, stored), lot(LATE, 20n, [20n, 0n])];
  expect(rebuilt(lots, { drawnMicros: 6n, consumedMicros: 6n })).toEqual({
    lots: { [EARLY]: [4n, 6n] },
    drawnMicros: 6n,
  });
});

it('returns what was drawn beyond what has left the account to the lot that expires last', () => {
  const lots = [lot('never', 10n, [7n, 3n]), lot(LATE, 10n, [5n, 5n]), lot(EARLY, 10n, [0n, 10n])];
  expect(rebuilt(lots, { drawnMicros: 18n, consumedMicros: 12n })).toEqual({
    lots: { never: [10n, 0n], [LATE]: [8n, 2n] },
    drawnMicros: 12n,
  });
});

it('empties a lot of credits that nothing brought, and binds a lot to its account and expiry again', () => {
  const lots = [lot(EARLY, 0n, [5n, 1n]), { ...lot(LATE, 10n, [8n, 2n]), isBound: false }];
  expect(rebuilt(lots, { drawnMicros: 3n, consumedMicros: 2n })).toEqual({
    lots: { [EARLY]: [0n, 0n], [LATE]: [8n, 2n] },
    drawnMicros: 2n,
  });
});
