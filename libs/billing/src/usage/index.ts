export { ForgetLabelsLoop } from './forget-labels.loop';
export { CreditReads } from './credit-reads.service';
export { csvRows, csvText } from './csv';
export { UsageStore } from './usage.store';
export { type UsageGrouping, type UsageReport, type UsageRow } from './usage';
