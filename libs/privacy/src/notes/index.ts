export { ErasureAuditor } from './erasure-auditor';
export { ErasureNotes } from './erasure-notes';
export { ReappliedErasures } from './reapplied-erasures.service';
export { ResealErasureNotesLoop } from './reseal-erasure-notes.loop';
export { SweepErasureNotesLoop } from './sweep-erasure-notes.loop';
export { UnknownErasures } from './unknown-erasures';
