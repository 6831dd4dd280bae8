import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { RunningApi } from '../fixtures/running-api';

const ORIGIN = 'https://ops.test';
const GROUPS = { ada: ['platform'], ben: ['support', 'billing'], cleo: ['nobody'], mallory: ['platform'] };
const ROLES = 'admin=platform,operator=support,finance=billing';

let provider: ChildProcess;
let issuer: string;
let api: RunningApi;
let settings: Record<string, string>;

beforeAll(async () => {
  const program = join(__dirname, '..', 'fixtures', 'identity-provider.mjs');
  const redirect = `${ORIGIN}/admin/v1/sign-in/callback`;
  provider = fork(program, [redirect, JSON.stringify(GROUPS)], { silent: true, execArgv: ['--no-warnings'] });
  const [line] = (await once(provider.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  issuer = line.toString().trim();
  settings = {
    MILLRACE_ADMIN_TOKEN: '',
    MILLRACE_OPERATORS_ISSUER: issuer,
    MILLRACE_OPERATORS_CLIENT_ID: 'millrace',
    MILLRACE_OPERATORS_CLIENT_SECRET: 'secret-of-a-test',
    MILLRACE_OPERATORS_URL: ORIGIN,
    MILLRACE_OPERATORS_ROLES: ROLES,
    MILLRACE_FAILED_AUTH_PER_MINUTE: '1000',
  };
  api = await RunningApi.open(settings);
});
afterAll(async () => {
  provider.kill();
  await api.close();
});

/** A browser: cookies by origin, and no redirect is followed unasked. */
class Browser {
  private readonly jars = new Map<string, Map<string, string>>();

  async go(url: string, form?: Record<string, string>): Promise<{ status: number; to: string; text: string }> {
    const { origin } = new URL(url);
    const jar = this.jars.get(origin) ?? new Map<string, string>();
    this.jars.set(origin, jar);
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s);
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    const to = location === null ? '' : new URL(location, url).href;
    return { status: answer.status, to, text: await answer.text() };
  }

  cookie(name: string): string {
    return this.jars.get(api.opsUrl)?.get(name) ?? '';
  }

  /** To the provider, signing in there, and to where it sends the browser: the callback, at the address of the test. */
  async toCallback(who: string): Promise<string> {
    let { to } = await this.go(`${api.opsUrl}/admin/v1/sign-in`);
    for (let step = 0; step < 12 && !to.startsWith(ORIGIN); step += 1) {
      const page = await this.go(to);
      to = page.to;
      if (page.to !== '') continue;
      const action = new URL(/action="([^"]+)"/.exec(page.text)?.[1] ?? '', issuer).href;
      const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1] ?? '';
      ({ to } = await this.go(action, prompt === 'login' ? { prompt, login: who, password: 'x' } : { prompt }));
    }
    return to.replace(ORIGIN, api.opsUrl);
  }

  async signIn(who: string): Promise<string> {
    const { to } = await this.go(await this.toCallback(who));
    return to.replace(api.opsUrl, '');
  }

  /** As the operators' console asks. */
  ask<T>(method: string, path: string, headers: Record<string, string> = {}) {
    const cookie = `millrace_operator=${this.cookie('millrace_operator')}`;
    return api
      .operator(null)
      .call<T>(method, path, { headers: { Cookie: cookie, 'Millrace-Console': '1', ...headers } });
  }
}

describe('signing in by the provider', () => {
  it('makes a session of who signed in, with the role of their group, and stands in the audit log', async () => {
    const browser = new Browser();
    expect(await browser.signIn('ada')).toBe('/console/ops/');
    expect((await browser.ask('GET', '/admin/v1/session')).body).toMatchObject({
      actor: 'operator:ada@example.com',
      role: 'admin',
    });
    const log = await browser.ask<{ entries: object[] }>('GET', '/admin/v1/audit-log?action=operator_session.create');
    expect(log.body.entries[0]).toMatchObject({ actor: 'operator:ada@example.com' });
  });

  it('leaves the session in the browser, and nothing of the flow', async () => {
    const browser = new Browser();
    await browser.signIn('ada');
    expect(browser.cookie('millrace_operator')).not.toBe('');
    expect(browser.cookie('millrace_operator_sign_in')).toBe('');
  });

  it('gives who has several groups the strongest role, and no more', async () => {
    const browser = new Browser();
    await browser.signIn('ben');
    expect((await browser.ask('GET', '/admin/v1/session')).body).toMatchObject({ role: 'operator' });
    expect((await browser.ask('POST', '/admin/v1/operator-tokens')).status).toBe(403);
  });

  it('lets an admin make the tokens of machines, which then need no sign-in', async () => {
    const browser = new Browser();
    await browser.signIn('ada');
    const made = await api.operator(null).call<{ token: string }>('POST', '/admin/v1/operator-tokens', {
      json: { name: 'exporter', role: 'viewer' },
      headers: {
        Cookie: `millrace_operator=${browser.cookie('millrace_operator')}`,
        'Millrace-Console': '1',
        'Millrace-Reason': 'first%20token',
      },
    });
    expect(made.status).toBe(201);
    expect((await api.operator(made.body.token).call('GET', '/admin/v1/workers')).status).toBe(200);
  });

  it('is what a browser without a session is asked for: its request is not signed in, and no more', async () => {
    const { status, body } = await api
      .operator(null)
      .call<{ error: { code: string; message: string } }>('GET', '/admin/v1/session');
    expect([status, body.error.code]).toEqual([401, 'unauthorized']);
    expect(body.error.message).toContain('Bearer <operator token>');
    expect((await api.operator('a-shared-token').call('GET', '/admin/v1/session')).status).toBe(403);
  });

  it('refuses who has no group with a role', async () => {
    const browser = new Browser();
    expect(await browser.signIn('cleo')).toBe('/console/ops/#sign-in=no-role');
    expect(browser.cookie('millrace_operator')).toBe('');
  });

  it('takes no e-mail address that the provider has not verified for a name', async () => {
    const browser = new Browser();
    await browser.signIn('mallory');
    expect((await browser.ask('GET', '/admin/v1/session')).body).toMatchObject({ actor: 'operator:mallory' });
  });

  it.each([
    ['in a browser that did not begin', async (url: string) => new Browser().go(url)],
    ['a second time', async (url: string, browser: Browser) => (await browser.go(url), browser.go(url))],
    ['with another state', (url: string, browser: Browser) => browser.go(url.replace(/state=[^&]+/, 'state=forged'))],
    [
      'with a code that was made up',
      (url: string, browser: Browser) => browser.go(url.replace(/code=[^&]+/, 'code=x')),
    ],
    ['without anything', (url: string, browser: Browser) => browser.go(url.replace(/\?.*/, ''))],
    [
      'with a refusal of the provider',
      (url: string, browser: Browser) => browser.go(url.replace(/code=[^&]+/, 'error=access_denied')),
    ],
  ])('is refused %s', async (_, come) => {
    const browser = new Browser();
    const url = await browser.toCallback('ada');
    const { status, to } = await come(url, browser);
    expect([status, to.replace(api.opsUrl, '')]).toEqual([302, '/console/ops/#sign-in=refused']);
  });

  it('is refused with what another sign-in of the same browser began', async () => {
    const browser = new Browser();
    const first = await browser.toCallback('ada');
    await browser.toCallback('ada');
    expect((await browser.go(first)).to).toContain('#sign-in=refused');
  });

  it('keeps the secret of the flow from scripts and from other paths', async () => {
    const answer = await fetch(`${api.opsUrl}/admin/v1/sign-in`, { redirect: 'manual' });
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^millrace_operator_sign_in=[\w-]+; HttpOnly; SameSite=Lax; Path=\/admin\/v1\/sign-in; Max-Age=600$/,
    );
    const url = new URL(answer.headers.get('location') ?? '');
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
  });

  it('says so where the provider cannot be reached', async () => {
    const away = await RunningApi.open({ ...settings, MILLRACE_OPERATORS_ISSUER: 'http://127.0.0.1:1' });
    const answer = await fetch(`${away.opsUrl}/admin/v1/sign-in`, { redirect: 'manual' });
    expect(answer.headers.get('location')).toBe('/console/ops/#sign-in=provider');
    await away.close();
  });

  it('is not there without a provider', async () => {
    const without = await RunningApi.open();
    expect((await fetch(`${without.opsUrl}/admin/v1/sign-in`)).status).toBe(404);
    expect(await (await fetch(`${without.opsUrl}/admin/v1/sign-in/ways`)).json()).toEqual({ provider: false });
    await without.close();
  });
});

describe('the settings of the provider', () => {
  it.each([
    ['half of one', { MILLRACE_OPERATORS_CLIENT_SECRET: '' }, 'set all or none'],
    [
      'one beside the shared admin token',
      { MILLRACE_ADMIN_TOKEN: 'an-admin-token-of-a-test' },
      'unset MILLRACE_ADMIN_TOKEN',
    ],
    ['one that gives nobody a role', { MILLRACE_OPERATORS_ROLES: '' }, 'gives no group a role'],
    ['a role that is none', { MILLRACE_OPERATORS_ROLES: 'root=platform' }, 'must be role=group'],
    ['an issuer without TLS', { MILLRACE_OPERATORS_ISSUER: 'http://login.example.com' }, 'must be an https:// URL'],
  ])('refuse %s when the process starts', async (_, wrong, cure) => {
    await expect(RunningApi.open({ ...settings, ...wrong })).rejects.toThrow(cure);
  });
});
