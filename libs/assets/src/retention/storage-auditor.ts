import type { Auditor, Finding } from '@millrace/platform';
import { UNKNOWN_STORE, type StorageAudit } from './storage-audit';

/** The comparison of records and bytes, as one of the auditors. */
export class StorageAuditor implements Auditor {
  readonly name = 'storage';

  /** @param readAll also read every byte and compare hashes. */
  constructor(
    private readonly audit: Pick<StorageAudit, 'run'>,
    private readonly readAll: boolean,
  ) {}

  async *findings(): AsyncGenerator<Finding> {
    const { isOwnStore, corruptBlobs, lostBlobs, strayKeys } = await this.audit.run(this.readAll);
    if (!isOwnStore && lostBlobs.length > 0) {
      yield { check: 'store-is-its-own', subject: 'store', detail: UNKNOWN_STORE };
    }
    for (const { hash } of corruptBlobs) {
      yield { check: 'bytes-are-their-hash', subject: hash, detail: 'The bytes have another hash.' };
    }
    for (const { hash } of lostBlobs) {
      yield { check: 'blob-has-its-bytes', subject: hash, detail: 'There are no bytes of the recorded size.' };
    }
    for (const key of strayKeys) {
      yield { check: 'object-has-its-record', subject: key, detail: 'No record will ever name this object.' };
    }
  }
}
