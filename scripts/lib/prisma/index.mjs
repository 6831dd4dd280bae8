export { migrationFaults } from './migration-rules.mjs';
export { createDatabase, migrate, migrationFiles, onDatabase } from './migrate.mjs';
export { generateClient } from './prisma-client.mjs';
export { runPrisma } from './prisma.mjs';
export { describeStructure } from './structure.mjs';
