export { DailyExports, type DailyExport, type DayFile, type Dataset } from './daily-exports.service';
export { ExportStore, firstIncompleteDay } from './export.store';
