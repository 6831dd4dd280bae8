export { chartFiles } from './chart-files.mjs';
export { settingsPage } from './settings-page.mjs';
