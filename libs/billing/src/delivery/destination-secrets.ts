import { Sealer, type KeyRing } from '@millrace/platform';

/** Seals what opens the buckets of accounts, for the database. What is sealed for one account does not open for another. */
export class DestinationSecrets {
  private readonly sealer: Sealer;

  constructor(ring: KeyRing) {
    this.sealer = new Sealer(ring, 'export destinations');
  }

  /** How secrets begin that are sealed with the first key of the ring. */
  get sealedHead(): Buffer {
    return this.sealer.head;
  }

  seal(secret: string, accountId: string): Buffer {
    return this.sealer.seal(secret, [accountId]);
  }

  /** @throws when it was sealed for another account, or its key is no longer in the ring. */
  open(sealed: Buffer, accountId: string): string {
    return this.sealer.open(sealed, [accountId], accountId);
  }

  /** Seal again, with the first key of the ring. @throws as `open` does. */
  reseal(sealed: Buffer, accountId: string): Buffer {
    return this.seal(this.open(sealed, accountId), accountId);
  }
}
