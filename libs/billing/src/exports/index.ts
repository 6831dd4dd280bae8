export { DailyExports, type DailyExport, type DayFile, type Dataset } from './daily-exports.service';
export { ExportStore } from './export.store';
