import { byExpiry } from '../credits';

/** A lot as it is stored, beside what the ledger says of it. */
export interface LotState {
  transactionId: string;
  expiresAt: Date | null;
  /** What the transaction brought the account, less what has expired of it; 0 where it brought this account nothing. */
  broughtMicros: bigint;
  /** Null where there is no row. */
  stored: LotAmounts | null;
  /** The row is of this account, with the expiry of its transaction. */
  isBound: boolean;
}

/** What is left of a lot, and what was drawn from it. */
export interface LotAmounts {
  remainingMicros: bigint;
  drawnMicros: bigint;
}

/** A lot that has to change. */
export interface LotChange {
  transactionId: string;
  before: LotAmounts | null;
  after: LotAmounts;
}

interface Draft extends LotState {
  drawnMicros: bigint;
}

/**
 * Make lots agree with the ledger: what is left of each and what was drawn from it are together what it has brought, and no more is drawn than
 * has left the account. From which lot a charge was drawn is known from the lots alone, so one that agrees stays as it is where that is possible, and
 * what the balance says was drawn is taken from, or returned to, those that do not. What is drawn too little is drawn at the next change of lots.
 *
 * @param balance what the balance says was drawn, and what has left the account by the ledger; in micro-credits.
 * @returns the lots that have to change, and what is drawn from all of them then.
 */
export function rebuildLots(
  states: readonly LotState[],
  { drawnMicros, consumedMicros }: { drawnMicros: bigint; consumedMicros: bigint },
): { changes: LotChange[]; drawnMicros: bigint } {
  const lots = states.map(draftOf).sort(byExpiry);
  const wrong = lots.filter((lot) => !agrees(lot));
  drawMore(wrong, least(drawnMicros, consumedMicros) - drawnFrom(lots));
  drawLess(wrong, drawnFrom(lots) - least(drawnMicros, consumedMicros));
  drawLess(lots, drawnFrom(lots) - consumedMicros);
  return { changes: lots.flatMap(changeOf), drawnMicros: drawnFrom(lots) };
}

function draftOf(state: LotState): Draft {
  return { ...state, drawnMicros: least(state.stored?.drawnMicros ?? 0n, state.broughtMicros) };
}

function agrees({ stored, isBound, broughtMicros }: LotState): boolean {
  if (stored === null) return false;
  return stored.remainingMicros + stored.drawnMicros === broughtMicros && (isBound || broughtMicros === 0n);
}

/** Draw an amount, or as much as there is, from the lots that expire first. */
function drawMore(lots: readonly Draft[], amountMicros: bigint): void {
  let left = amountMicros;
  for (const lot of lots) {
    if (left <= 0n) return;
    const amount = least(left, lot.broughtMicros - lot.drawnMicros);
    lot.drawnMicros += amount;
    left -= amount;
  }
}

/** Return an amount, or as much as was drawn, to the lots that expire last. */
function drawLess(lots: readonly Draft[], amountMicros: bigint): void {
  let left = amountMicros;
  for (const lot of [...lots].reverse()) {
    if (left <= 0n) return;
    const amount = least(left, lot.drawnMicros);
    lot.drawnMicros -= amount;
    left -= amount;
  }
}

function changeOf(lot: Draft): LotChange[] {
  const { transactionId, stored: before, broughtMicros, drawnMicros } = lot;
  if (agrees(lot) && before?.drawnMicros === drawnMicros) return [];
  return [{ transactionId, before, after: { remainingMicros: broughtMicros - drawnMicros, drawnMicros } }];
}

function drawnFrom(lots: readonly Draft[]): bigint {
  return lots.reduce((sum, lot) => sum + lot.drawnMicros, 0n);
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
