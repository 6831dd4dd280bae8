import { createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal } from '@millrace/contracts';
import type { KeyRing } from '@millrace/platform';

/** Path of our own route for parts, where the store has no links; the upload's id and the part's number follow. */
const PARTS_PATH = '/upload-parts/';

/** The claims of a link to one part; all of them are signed. */
export interface PartClaim {
  accountId: string;
  uploadId: string;
  number: number;
}

/** Links to PUT one part of one upload. They need no credential, and expire. */
export class PartLinks {
  /** The first signs. The last ones are those that processes of the version before sign with. */
  private readonly secrets: Buffer[];

  constructor(ring: KeyRing) {
    const former = ring.undivided.map((secret) => createHmac('sha256', secret).update('millrace part link').digest());
    this.secrets = [...ring.for('part links').map(({ secret }) => secret), ...former];
  }

  to(origin: string, { accountId, uploadId, number }: PartClaim, expiresAt: Date): string {
    const path = `${PARTS_PATH}${uploadId}/${number}`;
    const expires = String(Math.floor(expiresAt.getTime() / 1000));
    const signature = sign(this.secrets[0] as Buffer, path, accountId, expires);
    return `${origin}${path}?${new URLSearchParams({ account: accountId, expires, signature }).toString()}`;
  }

  /** @returns the account. @throws Refusal `forbidden` when it was not made here, was altered, or has expired. */
  verify(path: string, query: URLSearchParams): string {
    const account = query.get('account') ?? '';
    const expires = query.get('expires') ?? '';
    const presented = Buffer.from(query.get('signature') ?? '', 'base64url');
    const genuine = this.secrets.some((secret) => {
      const expected = Buffer.from(sign(secret, path, account, expires), 'base64url');
      return presented.length === expected.length && timingSafeEqual(presented, expected);
    });
    if (!genuine) throw badLink('was not made by this service');
    if (Number(expires) * 1000 <= Date.now()) throw badLink('has expired');
    return account;
  }
}

function sign(secret: Buffer, path: string, account: string, expires: string): string {
  return createHmac('sha256', secret).update(['PUT', path, account, expires].join('\n')).digest('base64url');
}

function badLink(fault: string): Refusal {
  return new Refusal('forbidden', `The link ${fault}; read the upload again for a fresh one.`);
}
