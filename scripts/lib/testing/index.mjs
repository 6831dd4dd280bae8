export { writeAttackTable } from './attack-table.mjs';
export { GUARDS } from './guards/index.mjs';
export { chromiumProgram, prometheusProgram, redisExporterProgram } from './debian-program.mjs';
export { failedTests } from './failed-tests.mjs';
export { helmProgram } from './helm-program.mjs';
export { measureRescues, RESCUE_SETTINGS } from './rescue.mjs';
export { concludeTests, filesToTryAgain, withSecondTry } from './test-count.mjs';
