import { checkedKey, parseBaseUrl, resolveSettings } from './settings';

const LOGIN = { url: 'https://stored.example', apiKey: 'mr_stored' };

describe('which service, and as whom', () => {
  it('is said by flags, else by MILLRACE_ variables, else by COMFY_ ones, else by the login', () => {
    const comfy = { COMFY_BASE_URL: 'https://comfy.example', COMFY_API_KEY: 'comfy' };
    const own = { ...comfy, MILLRACE_URL: 'https://own.example', MILLRACE_API_KEY: 'own' };
    const chosen = (flags: object, env: Record<string, string>): unknown[] => {
      const { baseUrl, apiKey } = resolveSettings(flags, env, LOGIN);
      return [baseUrl.host, apiKey];
    };
    expect(chosen({ url: 'https://flag.example', apiKey: 'flag' }, own)).toEqual(['flag.example', 'flag']);
    expect(chosen({}, own)).toEqual(['own.example', 'own']);
    expect(chosen({}, comfy)).toEqual(['comfy.example', 'comfy']);
    expect(chosen({}, { COMFY_BASE_URL: '  ' })).toEqual(['stored.example', 'mr_stored']);
  });

  it('never sends a stored key to a service that it was not stored for', () => {
    expect(resolveSettings({ url: 'https://other.example' }, {}, LOGIN).apiKey).toBeNull();
    expect(resolveSettings({ url: 'https://stored.example/deployment/d1' }, {}, LOGIN).apiKey).toBe('mr_stored');
  });

  it('is refused when no service is named', () => {
    expect(() => resolveSettings({}, {}, null)).toThrow(/No service is named/);
  });

  it.each([
    ['https://a.example/', 'https://a.example/'],
    ['https://a.example/api/v2/', 'https://a.example/'],
    ['http://a.example:8080/deployment/d1/api/v2', 'http://a.example:8080/deployment/d1'],
  ])('reads the address %s as %s', (text, address) => {
    expect(parseBaseUrl(text).href).toBe(address);
  });

  it.each(['a.example', 'ftp://a.example', 'https://u:p@a.example', 'https://a.example?x=1', ''])(
    'refuses the address %j',
    (text) => {
      expect(() => parseBaseUrl(text)).toThrow(/not valid/);
    },
  );

  it('refuses a key that could not stand in a header', () => {
    expect(checkedKey(' mr_key\n')).toBe('mr_key');
    expect(() => checkedKey('mr_\nkey')).toThrow(/no key has/);
  });
});
