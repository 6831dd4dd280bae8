import { randomBytes } from 'node:crypto';
import { contentDigestOf, entryDigestOf, segmentHashOf } from './digests';
import { isSegmentOf, readSegmentFile, segmentFile } from './segment-file';
import type { SealedEntry } from './sealed-entry';
import { NO_HASH, objectKeyOf, type Segment } from './segment';

const AT = new Date('2026-12-24T10:00:00.123Z');
const entryOf = (id: string, salt: Buffer | null = randomBytes(32)): SealedEntry => {
  const facts = { id, at: AT, actor: 'admin', action: 'account.update', subjectType: 'account', subjectId: 'a' };
  const whole = { ...facts, accountId: null, operatorAddress: '192.0.2.1' };
  const content = { details: '{"value": "Ada Lovelace"}', reason: 'a ticket', address: null };
  const contentDigest = salt === null ? randomBytes(32) : contentDigestOf(salt, content);
  return { facts: whole, content, salt, contentDigest, digest: entryDigestOf(whole, contentDigest) };
};
const entries = [entryOf('1'), entryOf('2'), entryOf('3', null)];
const bare = { no: 7n, previousHash: NO_HASH, entries: 3, sealedAt: AT };
const segment: Segment = {
  ...bare,
  hash: segmentHashOf(
    bare,
    entries.map(({ digest }) => digest),
  ),
  firstId: '1',
  lastId: '3',
  firstAt: AT,
  lastAt: AT,
};
const bytes = segmentFile(segment, entries);

it('an object is the segment, and has in clear who did what, and not what was said', () => {
  const filed = readSegmentFile(bytes);
  expect(filed?.segment).toEqual(segment);
  expect(filed?.entries.map(({ facts, digest }) => [facts, digest])).toEqual(
    entries.map(({ facts, digest }) => [facts, digest]),
  );
  expect(filed?.entries.map(({ content }) => content === null)).toEqual([false, false, true]);
  expect(filed !== null && isSegmentOf(filed, segment.hash)).toBe(true);
  expect([bytes.includes('account.update'), bytes.includes('Ada'), bytes.includes('a ticket')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(segmentFile(segment, entries).equals(bytes)).toBe(true);
});

it.each([
  ['who acted', '"admin"', '"eve"'],
  ['when', '10:00:00.123Z","actor', '10:00:00.124Z","actor'],
  ['the number', '"no":"7"', '"no":"8"'],
  ['how many', '"entries":3', '"entries":2'],
  ['a digest', /"digest":"./, '"digest":"x'],
  ['from where', '192.0.2.1', '192.0.2.2'],
])('an object in which %s was changed is not the segment', (_, from, to) => {
  const text = bytes.toString();
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  const filed = readSegmentFile(Buffer.from(changed));
  expect(filed !== null && isSegmentOf(filed, segment.hash)).toBe(false);
});

it.each(['', 'no JSON', '{"format":"another"}', `${bytes.toString()}{}\n`])('what is none is not read: %#', (text) => {
  expect(readSegmentFile(Buffer.from(text))).toBeNull();
});

it('names of objects are in the order of segments, and have the hash', () => {
  const names = [9n, 10n, 100_000n].map((no) => objectKeyOf('log/', { no, hash: segment.hash }));
  expect([...names].sort()).toEqual(names);
  expect(names[0]).toBe(`log/000000000009-${segment.hash.toString('hex')}.ndjson`);
});
