import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.MILLRACE_DATABASE_DIRECT_URL || process.env.DATABASE_URL || '' },
});
