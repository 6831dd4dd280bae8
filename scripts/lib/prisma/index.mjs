export { migrationFaults } from './migration-rules.mjs';
export { createDatabase, migrate } from './migrate.mjs';
export { migrationFiles } from './migration-files.mjs';
export { onDatabase } from './on-database.mjs';
export { ownDatabase } from './own-database.mjs';
export { generateClient } from './prisma-client.mjs';
export { schemaDifference } from './schema-difference.mjs';
export { describeStructure } from './structure.mjs';
