export { ForgetLabelsLoop } from './forget-labels.loop';
export { NoteSpendAnomaliesLoop } from './note-spend-anomalies.loop';
export { SpendAnomalyStore } from './spend-anomaly.store';
export { CreditReads } from './credit-reads.service';
export { csvRows, csvText } from './csv';
export { inTime } from './in-time';
export { UsageStore } from './usage.store';
export { type UsageGrouping, type UsageReport, type UsageRow } from './usage';
