export { hasPostgresPrograms } from './embedded-binaries.mjs';
export { DATABASE, seedFolder } from './postgres-seed.mjs';
export { dataIn, startPostgres } from './postgres.mjs';
