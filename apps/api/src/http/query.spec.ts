import { faultOfQuery } from './query';

describe('a query', () => {
  it.each(['/a', '/a%zz', '/a?', '/a?b=c', '/a?b=%25&c=%C3%A9', '/a?metadata[k]=%2B', '/a?b=+'])(
    '%s is read',
    (url) => {
      expect(faultOfQuery(url)).toBeNull();
    },
  );

  it.each(['/a?b=%zz', '/a?b=c&%=d', '/a?b=%ff', '/a?b=%C3', '/a?x=1&limit=%2'])(
    '%s is refused with 400, and says which part is wrong',
    (url) => {
      expect(faultOfQuery(url)).toMatchObject({
        code: 'invalid_request',
        status: 400,
        message: expect.stringMatching(/malformed percent-escape: \S*%\S*\. Write/) as string,
      });
    },
  );

  it.each(['metadata[a]=%zz', 'metadata%5Ba%5D=%', 'a=b&metadata[a]=%ff'])('%s is no metadata filter', (query) => {
    expect(faultOfQuery(`/api/v2/jobs?${query}`)).toMatchObject({ code: 'invalid_metadata_filter' });
  });
});
