import type { StoredBlob, StoredOutput } from '@millrace/assets';
import { Refusal, type GatewayOutput } from '@millrace/contracts';
import type { Fence, OutputDraft, RemoteAttempt } from '@millrace/jobs';
import { Sealer, type KeyRing } from '@millrace/platform';

/**
 * What a worker brings back to show which upload, or which stored bytes, it means: sealed, and bound to the attempt. So a worker can
 * record only what it has sent for this attempt, whichever gateway it reaches, and nothing is kept of uploads meanwhile.
 */
export class OutputReceipts {
  private readonly sealer: Sealer;

  constructor(ring: KeyRing) {
    this.sealer = new Sealer(ring, 'remote outputs');
  }

  /** The name of an upload that the store knows by `handle`. */
  ofUpload(fence: Fence, handle: string): string {
    return this.seal('upload', fence, handle);
  }

  /** @throws Refusal `forbidden` for one that was made for another attempt, or altered. */
  handleOf(fence: Fence, upload: string): string {
    return this.open('upload', fence, upload);
  }

  ofStored(fence: Fence, { blob: { hash, bornAt, sizeBytes } }: StoredOutput): string {
    return this.seal('stored', fence, JSON.stringify({ hash, bornAt: bornAt.getTime(), sizeBytes }));
  }

  /** What is recorded of an output. @throws Refusal `forbidden` when its bytes were not sent for this attempt. */
  draftOf(held: RemoteAttempt, { receipt, ...output }: GatewayOutput): OutputDraft {
    const { hash, bornAt, sizeBytes } = JSON.parse(this.open('stored', held, receipt)) as {
      hash: string;
      bornAt: number;
      sizeBytes: number;
    };
    const blob: StoredBlob = { accountId: held.accountId, hash, bornAt: new Date(bornAt), sizeBytes };
    return { ...output, blob };
  }

  private seal(kind: string, fence: Fence, text: string): string {
    return this.sealer.seal(text, placeOf(kind, fence)).toString('base64url');
  }

  private open(kind: string, fence: Fence, sealed: string): string {
    try {
      return this.sealer.open(Buffer.from(sealed, 'base64url'), placeOf(kind, fence), '');
    } catch {
      throw new Refusal(
        'forbidden',
        `The ${kind === 'upload' ? 'upload' : 'output'} is not of this attempt; send its bytes again.`,
      );
    }
  }
}

function placeOf(kind: string, { jobId, attempt, leaseToken }: Fence): string[] {
  return [kind, jobId, String(attempt), leaseToken];
}
