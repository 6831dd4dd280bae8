import { createLogger, readSettings, Shutdown } from '@millrace/platform';
import { apiSettings } from './api.config';
import { composeLibs } from './composition';

const NEEDED = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  REDIS_URL: 'redis://127.0.0.1:1',
  MILLRACE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};

function compose(env: Record<string, string>): Promise<unknown> {
  const logger = createLogger('api', 'fatal');
  return composeLibs(readSettings(apiSettings, { ...NEEDED, ...env }), logger, new Shutdown(logger));
}

describe('an api process does not start', () => {
  it('with a mail server and without the address to which links in mail lead, and says which settings these are', async () => {
    const env = { MILLRACE_MAIL_SMTP_URL: 'smtps://user:password@mail.example.com' };
    await expect(compose(env)).rejects.toThrow(
      /^MILLRACE_MAIL_SMTP_URL is set without MILLRACE_PUBLIC_URL: .*Set MILLRACE_PUBLIC_URL/,
    );
  });

  it.each([
    [{ MILLRACE_DRAIN_SECONDS: '20', MILLRACE_STOP_SECONDS: '20' }, 20, 20],
    [{ MILLRACE_DRAIN_SECONDS: '45' }, 45, 30],
    [{ MILLRACE_STOP_SECONDS: '5' }, 10, 5],
  ])('with a drain that the end of the stop would cut off: %j', async (env, drain, stop) => {
    await expect(compose(env)).rejects.toThrow(
      `MILLRACE_DRAIN_SECONDS (${drain}) is not less than MILLRACE_STOP_SECONDS (${stop})`,
    );
  });
});
