export { chartFiles } from './chart-files.mjs';
export { listSettings } from './settings-list.mjs';
export { settingsPage } from './settings-page.mjs';
