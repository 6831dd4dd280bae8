import { assertNoForeignPage, foreignSite, isOwnHost } from './own-hosts';

const rules = { publicUrl: 'https://api.example.com', deploymentDomain: 'apps.example.com' };
const nothing = { publicUrl: undefined, deploymentDomain: undefined };
const answer = (host: string, origin?: string): string => foreignSite(rules, host, origin)?.code ?? 'passes';

it.each(['localhost', 'LOCALHOST:8080', 'a.localhost', '127.0.0.1:8080', '[::1]:8080', '10.1.2.3', '[fd00::1]'])(
  '%s is ours without any setting',
  (host) => expect(isOwnHost(nothing, host)).toBe(true),
);

it.each(['api.example.com', 'API.example.com.:443', 'apps.example.com', 'x.apps.example.com:8443'])(
  '%s is ours when it is set',
  (host) => expect([isOwnHost(rules, host), isOwnHost(nothing, host)]).toEqual([true, false]),
);

it.each(['evil.test', 'localhost.evil.test', 'api.example.com.evil.test', 'xapps.example.com', '127.0.0.1.evil.test'])(
  '%s is not ours',
  (host) => expect(isOwnHost(rules, host)).toBe(false),
);

it.each([
  ['127.0.0.1:8080', undefined, 'passes'],
  ['127.0.0.1:8080', 'http://127.0.0.1:8080', 'passes'],
  ['127.0.0.1:8080', 'http://localhost:3000', 'passes'],
  ['10.1.2.3:8080', 'http://10.1.2.3:8080', 'passes'],
  ['localhost:8080', 'https://api.example.com', 'passes'],
  ['localhost:8080', 'https://evil.test', 'forbidden'],
  ['localhost:8080', 'http://203.0.113.7', 'forbidden'],
  ['localhost:8080', 'null', 'forbidden'],
  ['millrace-api:8080', undefined, 'passes'],
  ['millrace-api:8080', 'http://other', 'forbidden'],
  ['evil.test', undefined, 'forbidden'],
  ['evil.test', 'http://evil.test', 'forbidden'],
])('a request to %s from a page of %s %s', (host, origin, expected) => {
  expect(answer(host, origin)).toBe(expected);
});

it.each([
  ['evil.test', undefined, 'passes'],
  ['127.0.0.1:8080', 'http://localhost:3000', 'passes'],
  ['api.example.com', 'https://api.example.com', 'passes'],
  ['evil.test', 'http://evil.test', 'is refused'],
  ['api.example.com', 'https://evil.test', 'is refused'],
  ['api.example.com', 'null', 'is refused'],
  ['millrace-api:8080', 'http://millrace-api:8080', 'is refused'],
])('with a credential, a request to %s from a page of %s %s', (host, origin, expected) => {
  const check = (): void => assertNoForeignPage(rules, host, origin);
  if (expected === 'passes') expect(check).not.toThrow();
  else expect(check).toThrow('of other sites');
});
