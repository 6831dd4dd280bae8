import { execFileSync } from 'node:child_process';
import { closeSync, createWriteStream, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { archiveEnd, dataDescriptor, directoryRecord, localHeader, type ZipFile } from './zip-records';
import { zipOf, type ZipEntry } from './zip-stream';

interface Listed {
  name: string;
  size: number;
  time: number[];
  stored: boolean;
  offset: number;
  text: string | null;
}

/** Another program lists the files, each with its text where it has fewer than 100 bytes, and compares sums where asked to. */
const READER = `
import json, sys, zipfile
path, check = sys.argv[1:]
with zipfile.ZipFile(path) as archive:
    assert check == 'no' or archive.testzip() is None
    print(json.dumps([{
        'name': i.filename, 'size': i.file_size, 'time': i.date_time, 'stored': i.compress_type == zipfile.ZIP_STORED,
        'offset': i.header_offset, 'text': archive.read(i).decode() if i.file_size < 100 else None,
    } for i in archive.infolist()]))
`;
const MAX_LIST_BYTES = 100_000_000;
const MANY = 66_000;
const LARGE = 5_000_000_000;
const TIME = new Date(2026, 1, 3, 4, 5, 6);

let folder: TestFolder;
beforeAll(async () => {
  folder = await createTestFolder();
});
afterAll(() => folder.drop());

const never = new AbortController().signal;
const entry = (path: string, body: Readable | string, mtime = TIME): ZipEntry => ({
  path,
  mtime,
  body: typeof body === 'string' ? Readable.from([Buffer.from(body)]) : body,
});
const read = (path: string, check = 'yes'): Listed[] =>
  JSON.parse(
    execFileSync('python3', ['-c', READER, path, check], { encoding: 'utf8', maxBuffer: MAX_LIST_BYTES }),
  ) as Listed[];
async function* listed(...entries: ZipEntry[]): AsyncGenerator<ZipEntry> {
  yield* await Promise.resolve(entries);
}
/** Write an archive, and have it read. */
async function readBack(files: AsyncIterable<ZipEntry>): Promise<Listed[]> {
  const path = join(folder.path, 'a.zip');
  await pipeline(zipOf(files, never), createWriteStream(path));
  return read(path);
}

describe('an archive', () => {
  it('is read by another program: names of any script, bytes, texts, times and files of the same name', async () => {
    const files = await readBack(
      listed(
        entry('00000/swatch ü 絵 😀.png', Readable.from([Buffer.from('abc'), 'dé'])),
        entry('empty', Readable.from([])),
        entry('empty', 'again', new Date(0)),
        entry('later', 'x', new Date(2200, 1, 1)),
      ),
    );
    const old = [1980, 1, 1, 0, 0, 0];
    expect(files).toMatchObject([
      { name: '00000/swatch ü 絵 😀.png', text: 'abcdé', size: 6, time: [2026, 2, 3, 4, 5, 6], stored: true },
      { name: 'empty', text: '', time: [2026, 2, 3, 4, 5, 6] },
      { name: 'empty', text: 'again', time: old },
      { name: 'later', text: 'x', time: [2107, 12, 31, 23, 59, 58] },
    ]);
  });

  it('without a file is one, too', async () => {
    expect(await readBack(listed())).toEqual([]);
  });

  it('may have more files than the format of old can count', async () => {
    const files = async function* (): AsyncGenerator<ZipEntry> {
      for (let nth = 0; nth < MANY; nth += 1) yield await Promise.resolve(entry(`${nth % 7}/${nth}`, String(nth)));
    };
    const found = await readBack(files());
    expect(found.length).toBe(MANY);
    expect(found.every(({ name, text }, nth) => name === `${nth % 7}/${nth}` && text === String(nth))).toBe(true);
  });

  it('may be longer than 4 GiB, as may its files', () => {
    // By its records alone, in a file whose zeros take no room.
    const path = join(folder.path, 'large.zip');
    const [large, small, last] = ['large', 'small', 'last'].map((name) => Buffer.from(name)) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    const files: ZipFile[] = [{ name: large, mtime: TIME, offset: 0, crc: 0, sizeBytes: LARGE }];
    const next = (file: ZipFile): number =>
      file.offset + localHeader(file).length + file.sizeBytes + dataDescriptor(file).length;
    for (const name of [small, last]) {
      // The sum of one zero.
      files.push({ name, mtime: TIME, offset: next(files.at(-1) as ZipFile), crc: 0xd202ef8d, sizeBytes: 1 });
    }
    const file = openSync(path, 'w');
    for (const one of files) {
      writeSync(file, localHeader(one), 0, null, one.offset);
      writeSync(file, dataDescriptor(one), 0, null, next(one) - dataDescriptor(one).length);
    }
    const records = Buffer.concat(files.map(directoryRecord));
    const offset = next(files.at(-1) as ZipFile);
    const end = archiveEnd({ files: files.length, offset, sizeBytes: records.length });
    writeSync(file, Buffer.concat([records, end]), 0, null, offset);
    ftruncateSync(file, offset + records.length + end.length);
    closeSync(file);
    expect(read(path, 'no')).toMatchObject([
      { name: 'large', size: LARGE, offset: 0 },
      { name: 'small', size: 1, offset: next(files[0] as ZipFile), text: '\0' },
      { name: 'last', size: 1, text: '\0' },
    ]);
  });

  it.each([
    ['from the root', '/etc/passwd'],
    ['out of the archive', '../a'],
    ['out of a folder of it', 'a/../../b'],
    ['to another disk', 'c:/a'],
    ['with folders of one system alone', 'a\\b'],
    ['to nothing', ''],
    ['that is too long', 'n'.repeat(65_536)],
  ])('has no file of a path %s, which some program would write elsewhere or not at all', async (_, path) => {
    const file = entry(path, 'text');
    await expect(buffer(zipOf(listed(file), never))).rejects.toThrow('no path of an archive');
    expect(file.body.destroyed).toBe(true);
  });
});

describe('a file that is being read', () => {
  it.each([
    ['where it fails', (body: PassThrough) => body.destroy(new Error('the store is gone')), 'the store is gone'],
    ['where it ends before its end', (body: PassThrough) => body.destroy(), 'Premature close'],
  ])('ends the archive, which has no directory then: %s', async (_, end, message) => {
    const body = new PassThrough();
    body.write('half');
    const pieces: Uint8Array[] = [];
    const reading = (async () => {
      for await (const piece of zipOf(listed(entry('whole', 'whole'), entry('half', body)), never)) {
        pieces.push(piece);
        if (Buffer.from(piece).toString() === 'half') end(body);
      }
    })();
    await expect(reading).rejects.toThrow(message);
    const text = Buffer.concat(pieces).toString('latin1');
    expect(text).toContain('whole');
    expect(text).not.toMatch(/PK\u0001\u0002|PK\u0005\u0006/);
  });

  it('may fail before its first byte was asked for, which ends the archive and not the process', async () => {
    const body = new PassThrough();
    const archive = zipOf(listed(entry('a', body)), never);
    expect(Buffer.from((await archive.next()).value as Uint8Array).toString('latin1')).toMatch(/^PK/);
    body.destroy(new Error('the store is gone'));
    await new Promise((resolve) => body.once('close', resolve));
    await expect(archive.next()).rejects.toThrow('the store is gone');
  });

  it('is closed when nobody wants the archive any more, and no other is opened', async () => {
    const gone = new AbortController();
    const body = new PassThrough();
    let opened = 0;
    const files = async function* (): AsyncGenerator<ZipEntry> {
      for (;;) {
        opened += 1;
        yield await Promise.resolve(entry('a', body));
      }
    };
    const reading = buffer(zipOf(files(), gone.signal));
    body.write('half');
    await new Promise((resolve) => setImmediate(resolve));
    gone.abort();
    await expect(reading).rejects.toThrow();
    expect([body.destroyed, opened]).toEqual([true, 1]);
  });

  it('is forgotten when it is finished', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const bodies: WeakRef<Readable>[] = [];
    let alive = 0;
    const files = async function* (): AsyncGenerator<ZipEntry> {
      for (let nth = 0; nth < 500; nth += 1) {
        const file = entry(String(nth), 'text');
        bodies.push(new WeakRef(file.body));
        yield file;
      }
      // What a job of the event loop has looked at is kept until its end.
      await new Promise((resolve) => setImmediate(resolve));
      collect();
      alive = bodies.filter((body) => body.deref() !== undefined).length;
    };
    await pipeline(zipOf(files(), never), new PassThrough().resume());
    expect(bodies).toHaveLength(500);
    expect(alive).toBeLessThan(10);
  });
});
