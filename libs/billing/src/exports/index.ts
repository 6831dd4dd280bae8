export { DailyExports, type DailyExport, type Dataset } from './daily-exports.service';
export { ExportStore } from './export.store';
