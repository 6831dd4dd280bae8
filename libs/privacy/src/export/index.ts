export { AccountExportStore } from './account-export.store';
export { AccountExports, type ExportedFile } from './account-exports.service';
