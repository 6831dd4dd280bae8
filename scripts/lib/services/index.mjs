export { claimFolder, temporaryFolder } from './data-folder.mjs';
export { Fleet } from './fleet.mjs';
export { answers, isHealthy } from './health.mjs';
