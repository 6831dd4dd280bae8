import { createLogger, readSettings, Shutdown } from '@millrace/platform';
import { apiSettings } from './api.config';
import { composeLibs } from './composition';

describe('an api process does not start', () => {
  it('with a mail server and without the address to which links in mail lead, and says which settings these are', async () => {
    const env = {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      REDIS_URL: 'redis://127.0.0.1:1',
      MILLRACE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
      MILLRACE_MAIL_SMTP_URL: 'smtps://user:password@mail.example.com',
    };
    const logger = createLogger('api', 'fatal');
    const started = composeLibs(readSettings(apiSettings, env), logger, new Shutdown(logger));
    await expect(started).rejects.toThrow(
      /^MILLRACE_MAIL_SMTP_URL is set without MILLRACE_PUBLIC_URL: .*Set MILLRACE_PUBLIC_URL/,
    );
  });
});
