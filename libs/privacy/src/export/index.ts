export { AccountExportStore, JOBS_PAGE_BYTES } from './account-export.store';
export { AccountExports } from './account-exports.service';
