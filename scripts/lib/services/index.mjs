export { claimFolder, temporaryFolder } from './data-folder.mjs';
export { Fleet } from './fleet.mjs';
export { answers, isHealthy, readiness } from './health.mjs';
