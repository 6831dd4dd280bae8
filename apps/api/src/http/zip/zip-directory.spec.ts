import { createHash, randomUUID } from 'node:crypto';
import { ZipDirectory } from './zip-directory';
import { directoryRecord } from './zip-records';

const FILES = 50_000;
/** With the ids of a job and an asset in its name, what a file may take of memory: less than its record does in the archive. */
const ALLOWED_BYTES = 64;

describe('the directory of an archive', () => {
  it('has its records one after the other, and takes few bytes of memory for each', () => {
    const directory = new ZipDirectory();
    const wanted = createHash('sha256');
    let [job, wantedBytes] = ['', 0];
    for (let nth = 0; nth < FILES; nth += 1) {
      if (nth % 4 === 0) job = randomUUID();
      const name = Buffer.from(`outputs/${job}/${randomUUID()}-ComfyUI_${nth}_.png`);
      const crc = Math.floor(Math.random() * 0xffff_ffff);
      const mtime = new Date(1_750_000_000_000 + nth * 700);
      const record = directoryRecord({ name, mtime, offset: nth * 1_234_567, crc, sizeBytes: 1_234_000 + nth });
      directory.add(record);
      wanted.update(record);
      wantedBytes += record.length;
    }
    const hash = createHash('sha256');
    for (const piece of directory.pieces()) hash.update(piece);
    expect([directory.files, directory.sizeBytes]).toEqual([FILES, wantedBytes]);
    expect(hash.digest('hex')).toBe(wanted.digest('hex'));
    expect(directory.keptBytes / FILES).toBeLessThan(ALLOWED_BYTES);
  });

  it('has records that are longer than a block', () => {
    const directory = new ZipDirectory();
    const records = [3, 65_536, 200_000, 1].map((length, nth) => Buffer.alloc(length, nth + 1));
    for (const record of records) directory.add(record);
    expect(Buffer.concat([...directory.pieces()]).equals(Buffer.concat(records))).toBe(true);
    expect(directory.sizeBytes).toBe(265_540);
  });
});
