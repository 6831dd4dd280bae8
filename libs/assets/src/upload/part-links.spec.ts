import { createHmac, randomBytes } from 'node:crypto';
import { KeyRing } from '@millrace/platform';
import { ContentLinks } from '../content';
import { PartLinks } from './part-links';

const CLAIM = { accountId: 'an-account', uploadId: 'an-upload', number: 3 };
const [old, next] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const linksOf = (text: string): PartLinks => new PartLinks(KeyRing.parse(text) as KeyRing);
const soon = (): Date => new Date(Date.now() + 60_000);

function follow(url: string, by: PartLinks): string {
  const { pathname, searchParams } = new URL(url);
  return by.verify(pathname, searchParams);
}

it('a link to a part works through a rotation of keys, until its own key is removed', () => {
  const url = linksOf(old).to('http://localhost', CLAIM, soon());
  for (const text of [old, `${old},${next}`, `${next},${old}`])
    expect(follow(url, linksOf(text))).toBe(CLAIM.accountId);
  expect(() => follow(url, linksOf(next))).toThrow('was not made by this service');
  expect(follow(linksOf(`${next},${old}`).to('http://localhost', CLAIM, soon()), linksOf(next))).toBe(CLAIM.accountId);
});

it('a link of the version before still works', () => {
  const expires = String(Math.floor(Date.now() / 1000) + 60);
  const former = createHmac('sha256', Buffer.from(old, 'base64')).update('millrace part link').digest();
  const path = '/upload-parts/an-upload/3';
  const text = ['PUT', path, CLAIM.accountId, expires].join('\n');
  const signature = createHmac('sha256', former).update(text).digest('base64url');
  const query = new URLSearchParams({ account: CLAIM.accountId, expires, signature });
  expect(linksOf(`${next},${old}`).verify(path, query)).toBe(CLAIM.accountId);
});

it('a signature for content is worth nothing here', () => {
  const ring = KeyRing.parse(old) as KeyRing;
  const { url } = new ContentLinks(ring, 60).toContent(
    { kind: 'cloud', origin: 'http://localhost', prefix: '' },
    { id: 'an-upload', accountId: CLAIM.accountId },
  );
  expect(() => linksOf(old).verify('/upload-parts/an-upload/3', new URL(url).searchParams)).toThrow();
});
