export { AccountExportStore } from './account-export.store';
export { AccountExports } from './account-exports.service';
