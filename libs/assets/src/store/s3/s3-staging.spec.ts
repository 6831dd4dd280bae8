import { setImmediate } from 'node:timers/promises';
import { UploadPartCopyCommand } from '@aws-sdk/client-s3';
import { copyObject, type Bucket } from './s3-staging';

const MIB = 1024 * 1024;

/** A bucket that notes what it is asked. @param failing the number of a part that it does not copy. */
function noting(failing: number | null): { bucket: Bucket; asked: string[]; ranges: string[]; most: () => number } {
  const asked: string[] = [];
  const ranges: string[] = [];
  let [copying, most] = [0, 0];
  const send = async (command: object): Promise<object> => {
    asked.push(command.constructor.name);
    if (!(command instanceof UploadPartCopyCommand)) return { UploadId: 'u' };
    const { PartNumber, CopySourceRange = '' } = command.input;
    ranges.push(CopySourceRange);
    copying += 1;
    most = Math.max(most, copying);
    await setImmediate();
    copying -= 1;
    if (PartNumber === failing) throw new Error('not copied');
    return { CopyPartResult: { ETag: `${PartNumber}` } };
  };
  const client = { send } as never;
  const bucket = { name: 'b', client, reader: client, encryption: undefined, objectOf: (key: string) => key };
  return { bucket, asked, ranges, most: () => most };
}

describe('a copy in a bucket', () => {
  it('of a large object is made in steps that a slow server answers in time, a few at once', async () => {
    const { bucket, ranges, most } = noting(null);
    await copyObject(bucket, { source: 's', target: 't', sizeBytes: 1_280 * MIB + 5 });
    const sizes = ranges
      .map((range) => range.match(/\d+/g)?.map(Number))
      .map(([from = 0, to = 0] = []) => to - from + 1);
    expect(sizes).toEqual([...Array<number>(5).fill(256 * MIB), 5]);
    expect(most()).toBe(3);
  });

  it('begins no more parts once one has failed, and is dropped when the others have ended', async () => {
    const { bucket, asked, ranges } = noting(2);
    const copied = copyObject(bucket, { source: 's', target: 't', sizeBytes: 100 * MIB }, 5 * MIB);
    await expect(copied).rejects.toMatchObject({ name: 'BlobStoreError' });
    expect(ranges.length).toBeLessThan(6);
    expect(asked.at(-1)).toBe('AbortMultipartUploadCommand');
  });
});
