export { CloseLedgerDaysLoop } from './close-ledger-days.loop';
export { type Balance } from './balance';
export { DAY, LedgerDaysStore } from './ledger-days.store';
export { LedgerReadsStore, type LedgerPosition, type LedgerRecord } from './ledger-reads.store';
export {
  INSUFFICIENT_CREDITS,
  coversHoldPart,
  endHoldParts,
  extendHold,
  holdEntriesPart,
  holdPart,
  holdsPart,
  setAsidePart,
} from './hold.store';
export { LedgerStore } from './ledger.store';
export { LEDGER_KINDS, MOVES, type Book, type LedgerKind, type Move } from './ledger';
export { LINE_COLUMNS, lineSums, movements } from './movements.store';
export { PostingStore, partOf, type Original, type Posted, type Posting } from './posting.store';
export { takenBackEntries } from './taken-back.store';
export { SETTLED_AFTER_MS, monthSpan, type Statement } from './statement';
