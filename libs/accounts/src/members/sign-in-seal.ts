import { Sealer, type KeyRing } from '@millrace/platform';

/** What a request for links says: who asks, and of which console the links are. */
export interface AskedSignIn {
  /** In lower case. */
  email: string;
  /** Where links lead: never taken from the `Host` of a request. */
  origin: string;
}

/** Seals what a request for links says: anyone may write an address into it, also one of who has nothing to do with this service. */
export class SignInSeal {
  private readonly sealer: Sealer;

  constructor(ring: KeyRing) {
    this.sealer = new Sealer(ring, 'sign-in requests');
  }

  /** @param id of the request: what is sealed opens there alone. */
  seal(id: string, asked: AskedSignIn): Buffer {
    return this.sealer.seal(JSON.stringify(asked), [id]);
  }

  /** @throws when its key is not in the ring. */
  open(id: string, sealed: Buffer): AskedSignIn {
    return JSON.parse(this.sealer.open(sealed, [id], '')) as AskedSignIn;
  }
}
