import { randomBytes } from 'node:crypto';
import { Shutdown, createLogger, readSettings } from '@millrace/platform';
import {
  createTestDatabase,
  createTestFolder,
  testRedisUrl,
  type TestDatabase,
  type TestFolder,
} from '@millrace/testing';
import { apiSettings } from '../api.config';
import { composeApi } from '../composition';
import { createPublicApp } from '../http/public-app';
import { describeApi } from './document';
import { METHODS } from './openapi-types';

let test: TestDatabase;
let folder: TestFolder;
let shutdown: Shutdown;
let served: string[];
beforeAll(async () => {
  [test, folder] = await Promise.all([createTestDatabase(2), createTestFolder()]);
  const logger = createLogger('test', 'silent');
  shutdown = new Shutdown(logger, 10_000);
  const settings = readSettings(apiSettings, {
    DATABASE_URL: test.url,
    REDIS_URL: testRedisUrl(),
    MILLRACE_POOL: 'a-pool',
    MILLRACE_BLOB_DIR: folder.path,
    MILLRACE_SECRET_KEY: randomBytes(32).toString('base64'),
  });
  const api = await composeApi(settings, logger, shutdown);
  const rules = { shared: settings.surface, publicUrl: undefined, deploymentDomain: undefined };
  const { app, routes } = await createPublicApp({ ...api.public, metrics: api.metrics, logger, rules });
  await app.init();
  served = routes.list().map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
  await app.close();
});
afterAll(async () => {
  await shutdown.run('the test is over');
  await Promise.all([test.drop(), folder.drop()]);
});

const described = (): string[] =>
  Object.entries(describeApi().paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => `${method.toUpperCase()} ${path}`),
  );

describe('the OpenAPI document', () => {
  it('has every route that the public listener serves, and no other', () => {
    expect(described().sort()).toEqual([...new Set(served)].sort());
  });
});
