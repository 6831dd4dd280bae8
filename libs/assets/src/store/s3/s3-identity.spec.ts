import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from '@millrace/testing';
import { DEFAULT_REQUEST_POLICY } from './s3-client';
import { S3BlobStore } from './s3.blob-store';

const ROLE = 'arn:aws:iam::111122223333:role/millrace';
const TOKEN = 'a-token-of-the-pod';
const before = { ...process.env };

let folder: string;
let origin: string;
/** The bucket's server and the token service of AWS as a pod of EKS meets it. */
let aws: Server;
let exchanges: URLSearchParams[];
let requests: IncomingMessage[];
/** Seconds that credentials are good for. */
let lifetimeSeconds: number;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-identity-'));
  await writeFile(join(folder, 'token'), TOKEN);
  aws = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.method !== 'POST') {
        requests.push(request);
        return response.end();
      }
      exchanges.push(new URLSearchParams(body));
      return response.setHeader('content-type', 'text/xml').end(credentials());
    });
  }).listen(0, '127.0.0.1');
  await once(aws, 'listening');
  origin = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
});
afterAll(async () => {
  aws.closeAllConnections();
  aws.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  [exchanges, requests, lifetimeSeconds] = [[], [], 3_600];
  Object.assign(process.env, {
    AWS_ROLE_ARN: ROLE,
    AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'),
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_STS: origin,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: join(folder, 'none'),
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
  });
});
afterEach(() => {
  process.env = { ...before };
});

/** The answer of AssumeRoleWithWebIdentity (AWS Security Token Service, API version 2011-06-15). */
function credentials(): string {
  const number = exchanges.length;
  return `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
    <AssumeRoleWithWebIdentityResult>
      <AssumedRoleUser><Arn>${ROLE}</Arn><AssumedRoleId>A:millrace</AssumedRoleId></AssumedRoleUser>
      <Credentials>
        <AccessKeyId>key-${number}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
        <SessionToken>session-${number}</SessionToken>
        <Expiration>${new Date(Date.now() + lifetimeSeconds * 1_000).toISOString()}</Expiration>
      </Credentials>
    </AssumeRoleWithWebIdentityResult>
  </AssumeRoleWithWebIdentityResponse>`;
}

/** A store that was given no key: it has to find out by itself who it is. */
function keyless(): S3BlobStore {
  const address = { bucket: 'bytes', region: 'us-east-1', endpoint: origin, credentials: undefined };
  return new S3BlobStore(address, undefined, { ...DEFAULT_REQUEST_POLICY, maxAttempts: 1 });
}

describe('a bucket of blobs without a key in the settings', () => {
  it('is used with the role of the pod, whose token is exchanged once', async () => {
    const store = keyless();
    await store.check();
    await store.check();
    store.close();
    expect(exchanges.map((form) => Object.fromEntries(form))).toEqual([
      expect.objectContaining({ Action: 'AssumeRoleWithWebIdentity', RoleArn: ROLE, WebIdentityToken: TOKEN }),
    ]);
    expect(requests).toHaveLength(2);
    for (const { headers } of requests) {
      expect(headers['x-amz-security-token']).toBe('session-1');
      expect(headers.authorization).toMatch(/Credential=key-1\/.*SignedHeaders=[^,]*x-amz-security-token/);
    }
  });

  it('gives links that carry the session', async () => {
    const store = keyless();
    const options = { contentType: 'text/plain', disposition: 'inline', expiresSeconds: 60, method: 'GET' as const };
    const link = new URL(await store.presign('a/key', options));
    store.close();
    expect(link.searchParams.get('X-Amz-Security-Token')).toBe('session-1');
    expect(link.searchParams.get('X-Amz-Credential')).toMatch(/^key-1\//);
  });

  it('asks for new credentials before those it has run out', async () => {
    lifetimeSeconds = 60;
    const store = keyless();
    await eventually('a request with the next credentials', async () => {
      await store.check();
      return requests.at(-1)?.headers['x-amz-security-token'] === 'session-2';
    });
    store.close();
  });

  it('is refused with a sentence when there is no role either', async () => {
    for (const name of ['AWS_ROLE_ARN', 'AWS_WEB_IDENTITY_TOKEN_FILE']) delete process.env[name];
    const store = keyless();
    await expect(store.check()).rejects.toThrow('The bucket bytes cannot be used');
    store.close();
    expect(requests).toEqual([]);
  });
});
