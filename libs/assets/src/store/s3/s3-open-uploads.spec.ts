import type { S3Client } from '@aws-sdk/client-s3';
import { openUploads } from './s3-open-uploads';

const Initiated = new Date(0);

it('open multipart uploads are listed to the last page', async () => {
  const pages = [
    {
      Uploads: [{ Key: 'a', UploadId: '1', Initiated }],
      IsTruncated: true,
      NextKeyMarker: 'a',
      NextUploadIdMarker: '1',
    },
    { Uploads: [{ Key: 'b', UploadId: '2', Initiated }], IsTruncated: false },
  ];
  const markers: unknown[] = [];
  const send = async ({ input }: { input: { KeyMarker?: string } }): Promise<unknown> => {
    markers.push(input.KeyMarker);
    return pages.shift();
  };
  const bucket = {
    name: 'b',
    client: { send } as unknown as S3Client,
    encryption: undefined,
    objectOf: (key: string) => key,
  };
  const names: string[] = [];
  for await (const { name } of openUploads(bucket, 'staging/')) names.push(name);
  expect(names).toEqual(['a 1', 'b 2']);
  expect(markers).toEqual([undefined, 'a']);
});
