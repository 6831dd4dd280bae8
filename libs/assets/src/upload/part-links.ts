import { createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal } from '@millrace/contracts';

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
  private readonly secret: Buffer;

  constructor(secret: Buffer) {
    // A key derived for this use alone, so that a signature made here is valid nowhere else.
    this.secret = createHmac('sha256', secret).update('millrace part link').digest();
  }

  to(origin: string, { accountId, uploadId, number }: PartClaim, expiresAt: Date): string {
    const path = `${PARTS_PATH}${uploadId}/${number}`;
    const expires = String(Math.floor(expiresAt.getTime() / 1000));
    const signature = this.sign(path, accountId, expires);
    return `${origin}${path}?${new URLSearchParams({ account: accountId, expires, signature }).toString()}`;
  }

  /** @returns the account. @throws Refusal `forbidden` when it was not made here, was altered, or has expired. */
  verify(path: string, query: URLSearchParams): string {
    const account = query.get('account') ?? '';
    const expires = query.get('expires') ?? '';
    const expected = Buffer.from(this.sign(path, account, expires), 'base64url');
    const presented = Buffer.from(query.get('signature') ?? '', 'base64url');
    const genuine = presented.length === expected.length && timingSafeEqual(presented, expected);
    if (!genuine) throw badLink('was not made by this service');
    if (Number(expires) * 1000 <= Date.now()) throw badLink('has expired');
    return account;
  }

  private sign(path: string, account: string, expires: string): string {
    return createHmac('sha256', this.secret).update(['PUT', path, account, expires].join('\n')).digest('base64url');
  }
}

function badLink(fault: string): Refusal {
  return new Refusal('forbidden', `The link ${fault}; read the upload again for a fresh one.`);
}
