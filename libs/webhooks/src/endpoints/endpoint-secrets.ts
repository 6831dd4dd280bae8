import { randomBytes } from 'node:crypto';
import { Sealer, type KeyRing } from '@millrace/platform';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Whose secret it is: what is sealed for one endpoint does not open for another. */
export interface SecretPlace {
  accountId: string;
  endpointId: string;
}

/** Makes the secrets that messages are signed with, in the form of Standard Webhooks, and seals them for the database. */
export class EndpointSecrets {
  private readonly sealer: Sealer;

  constructor(ring: KeyRing) {
    this.sealer = new Sealer(ring, 'webhook secrets');
  }

  /** @returns a new secret: as its owner sees it once, and as it is stored. */
  make({ accountId, endpointId }: SecretPlace): { secret: string; sealed: Buffer } {
    const secret = PREFIX + randomBytes(SECRET_BYTES).toString('base64');
    return { secret, sealed: this.sealer.seal(secret, [accountId, endpointId]) };
  }

  /** How secrets begin that are sealed with the first key of the ring. */
  get sealedHead(): Buffer {
    return this.sealer.head;
  }

  /** Seal again, with the first key of the ring. @throws as `open` does. */
  reseal(sealed: Buffer, { accountId, endpointId }: SecretPlace): Buffer {
    return this.sealer.seal(this.open(sealed, { accountId, endpointId }), [accountId, endpointId]);
  }

  /** @throws when it was sealed for another endpoint, or its key is no longer in the ring. */
  open(sealed: Buffer, { accountId, endpointId }: SecretPlace): string {
    return this.sealer.open(sealed, [accountId, endpointId], endpointId);
  }
}

/** The bytes to sign with. */
export function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}
