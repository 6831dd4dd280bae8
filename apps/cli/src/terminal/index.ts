export { ask, firstLine } from './ask';
export { failureJson, failureLines } from './failure-report';
export { age, count, credits, duration, elapsed, moment, size } from './format';
export { type Palette, paletteFor, type Style } from './palette';
export { Printer } from './printer';
export { factLines, recordTable } from './records';
export { type Cell, tableLines } from './table';
export { escapeJson, plainBlock, plainLine } from './terminal-text';
export { showTransfer } from './transfer-view';
