import { createHash } from 'node:crypto';
import {
  wholeAccount,
  type BeginTransaction,
  type ContentService,
  type ResumableUpload,
  type ResumableUploadService,
} from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import { RefusedError, type Database } from '@millrace/database';
import { backoffMs, joinSignals } from '@millrace/platform';
import { contentFieldsOf, type ModelContents } from '../library';
import { ImportError } from './import-error';
import type { ImportClaim, ImportStore } from './import.store';
import { discard, type OriginClient, type OriginPart } from './origin-client';

const LEASE_SECONDS = 60;
const RENEW_MS = 20_000;
/** After so long another account has its turn. */
const SLICE_MS = 20_000;
/**
 * A part of up to so many bytes that has not arrived by then is given up, so that one slow source does not keep a process's only import for
 * long. A larger one has as much longer.
 */
const PART_MS = 300_000;
const PART_BYTES = 32 * 1_048_576;
const RETRY_BASE_MS = 2_000;
const RETRY_CAP_MS = 300_000;
/**
 * Failures in a row, without a part that arrived, after which an import is given up: after half an hour of pauses on average, as
 * docs/models.md says. A pause is half of its limit on average: eight grow to 256 s, the other eleven have 300 s.
 */
const MOST_FAILURES = 20;
/** Before an import is tried again that waits for other uploads of its account to end: each time it asks its source for the size. */
const WAIT_SECONDS = 300;
/** Times that an import may begin again because its upload has expired: the service may have been away meanwhile, or the source is too slow. */
const MOST_RESTARTS = 1;
/** Then what had arrived counts no more for the account: `sweep-uploads` runs every ten minutes. */
const RESTART_SECONDS = 900;
/** Refusals that no other attempt changes. */
const FINAL = ['storage_full', 'payload_too_large', 'hash_mismatch', 'invalid_request'];
/** Undoes the begin of an upload of an import that is another process's by now. */
const IMPORT_LOST = 'import_lost';

/** A part that has not arrived, and its bytes: `start` inclusive, `end` exclusive. */
interface MissingPart {
  number: number;
  start: number;
  end: number;
}

/** What an attempt came to: there is more to do at once, it ended, or it failed. */
type Outcome = 'more' | 'ended' | 'failed';

/**
 * Imports models: each is an upload in parts, whose client is this process. What has arrived is asked of the store, so that
 * another process goes on wherever this one died.
 */
export class ModelImporter {
  private readonly stopping = new AbortController();
  /** The account that had its turn last; null: the first is next. */
  private after: string | null = null;

  constructor(
    private readonly database: Database,
    private readonly store: ImportStore,
    private readonly origin: OriginClient,
    private readonly uploads: ResumableUploadService,
    private readonly contents: ModelContents,
    private readonly content: Pick<ContentService, 'openPart'>,
  ) {}

  /** Work for a while on an import of the account whose turn it is. @returns null when none is due. */
  async work(): Promise<Outcome | null> {
    if (this.stopping.signal.aborted) return null;
    const claim = await this.claim();
    if (claim === null) return null;
    const lost = new AbortController();
    const renewal = setInterval(() => void this.renew(claim, lost), RENEW_MS);
    const over = joinSignals(this.stopping.signal, lost.signal);
    try {
      return await this.goOn(claim, over.signal);
    } catch (error) {
      return await this.settleFailure(claim, error);
    } finally {
      over.release();
      clearInterval(renewal);
    }
  }

  /** Cut what is under way: another process goes on with it. */
  async close(): Promise<void> {
    this.stopping.abort();
    await this.origin.close();
  }

  /** Accounts have their turns one after the other, and begin again when all had theirs. */
  private async claim(): Promise<ImportClaim | null> {
    const { after } = this;
    const claim = await this.store.claim(this.database, LEASE_SECONDS, after);
    this.after = claim?.model.accountId ?? null;
    return claim === null && after !== null ? this.claim() : claim;
  }

  private async renew(claim: ImportClaim, lost: AbortController): Promise<void> {
    const held = await this.store.renew(this.database, claim, LEASE_SECONDS).catch(() => true);
    if (!held) lost.abort();
  }

  private async goOn(claim: ImportClaim, signal: AbortSignal): Promise<Outcome> {
    const begun = await this.uploadOf(claim, signal);
    if (begun === null) return 'ended';
    const endAt = performance.now() + SLICE_MS;
    for (const part of await this.missingOf(begun.upload)) {
      await this.fetch(claim.model, begun, part, signal);
      if (!(await this.store.renew(this.database, claim, LEASE_SECONDS, part.end))) return 'ended';
      if (performance.now() > endAt) return this.release(claim);
    }
    await this.finish(claim, begun.upload, signal);
    return 'ended';
  }

  /** @throws ImportError where the source is too slow; what asking for the part and storing it reject with. */
  private async fetch(
    { sourceUrl, accountId }: ImportClaim['model'],
    begun: { upload: ResumableUpload; etag: string | null },
    { number, start, end }: MissingPart,
    signal: AbortSignal,
  ): Promise<void> {
    const late = new AbortController();
    const limitMs = PART_MS * Math.max(1, (end - start) / PART_BYTES);
    const timer = setTimeout(() => late.abort(), limitMs);
    const over = joinSignals(signal, late.signal);
    try {
      const part = await this.origin.read(sourceUrl, { start, end }, begun.etag, over.signal);
      assertSame(part, begun);
      await this.uploads.receive(accountId, begun.upload.id, number, part.body);
    } catch (error) {
      throw late.signal.aborted && !signal.aborted ? tooSlow(end - start, limitMs) : error;
    } finally {
      over.release();
      clearTimeout(timer);
    }
  }

  /** The upload of an import; it is begun when the size is known. @returns null when the import is not this process's any more. */
  private async uploadOf(
    claim: ImportClaim,
    signal: AbortSignal,
  ): Promise<{ upload: ResumableUpload; etag: string | null } | null> {
    const { model, etag } = claim;
    if (model.uploadId !== null)
      return { upload: await this.uploads.get(wholeAccount(model.accountId), model.uploadId), etag };
    const first = await this.origin.read(model.sourceUrl, { start: 0, end: 1 }, null, signal);
    discard(first.body);
    const expected = model.expectedHash?.startsWith('blake3:') === true ? model.expectedHash : null;
    const allowance = { uploadBytesPerDay: null, storageBytes: claim.storageBytes };
    const fields = contentFieldsOf(model, expected);
    const begin: BeginTransaction = (insert) =>
      this.database.transaction(async (tx) => {
        const { id: uploadId } = await insert(tx);
        const to = { uploadId, sizeBytes: first.totalBytes, etag: first.etag };
        if (!(await this.store.begin(tx, claim, to))) throw new RefusedError(IMPORT_LOST);
      });
    try {
      const upload = await this.uploads.begin(model.accountId, first.totalBytes, fields, allowance, begin);
      model.uploadId = upload.id;
      return { upload, etag: first.etag };
    } catch (error) {
      if (error instanceof RefusedError && error.reason === IMPORT_LOST) return null;
      throw error;
    }
  }

  private async missingOf(upload: ResumableUpload): Promise<MissingPart[]> {
    const parts = await this.uploads.partsOf(upload);
    return parts
      .filter(({ received }) => !received)
      .map(({ number, sizeBytes }) => {
        const start = (number - 1) * upload.partBytes;
        return { number, start, end: start + sizeBytes };
      });
  }

  private async finish({ model }: ImportClaim, upload: ResumableUpload, signal: AbortSignal): Promise<void> {
    const { asset } = await this.uploads.complete(wholeAccount(model.accountId), upload.id, {
      uploadBytesPerDay: null,
    });
    const { expectedHash } = model;
    if (expectedHash?.startsWith('sha256:') === true) {
      const actual = await this.sha256Of(model.accountId, asset.id, asset.blob.sizeBytes, signal);
      if (actual !== expectedHash) {
        throw await this.contents.refuse(model, asset.id, `The content has the hash ${actual}, not ${expectedHash}.`);
      }
    }
    await this.contents.settle(model, asset);
  }

  private async sha256Of(accountId: string, id: string, sizeBytes: number, signal: AbortSignal): Promise<string> {
    const hash = createHash('sha256');
    const bytes = await this.content.openPart(accountId, id, { start: 0, end: sizeBytes - 1 });
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      hash.update(chunk as Buffer);
    }
    return `sha256:${hash.digest('hex')}`;
  }

  private async release(claim: ImportClaim): Promise<Outcome> {
    await this.store.release(this.database, claim, 0, false);
    return 'more';
  }

  private async settleFailure(claim: ImportClaim, error: unknown): Promise<Outcome> {
    if (this.stopping.signal.aborted) return this.release(claim);
    const refusal = error instanceof Refusal ? error.code : null;
    if (refusal === 'model_refused') {
      await this.dropUpload(claim);
      return 'ended';
    }
    const isLast = refusal !== 'rate_limited' && claim.failures + 1 >= MOST_FAILURES;
    const isFinal = error instanceof ImportError ? error.isFinal : refusal !== null && FINAL.includes(refusal);
    if (isFinal || isLast) {
      // Where this process has it no more, its bytes are another's to judge.
      if (await this.store.fail(this.database, claim, problemOf(error))) await this.dropUpload(claim);
      return 'ended';
    }
    if (refusal === 'rate_limited') {
      await this.store.release(this.database, claim, WAIT_SECONDS, false);
      return 'failed';
    }
    if (refusal === 'not_found') return this.beginAgain(claim);
    await this.store.release(
      this.database,
      claim,
      backoffMs(claim.failures, RETRY_BASE_MS, RETRY_CAP_MS) / 1_000,
      true,
    );
    return 'failed';
  }

  /** Its upload has expired: its bytes are fetched again, once. */
  private async beginAgain(claim: ImportClaim): Promise<Outcome> {
    if (claim.restarts >= MOST_RESTARTS) {
      const problem =
        'The source is too slow: the file did not arrive in the 20 hours for which an upload is open, twice.';
      await this.store.fail(this.database, claim, problem);
      return 'ended';
    }
    await this.database.transaction(async (tx) => {
      await this.store.begin(tx, claim, null);
      await this.store.release(tx, claim, RESTART_SECONDS, true);
    });
    return 'failed';
  }

  private async dropUpload({ model: { accountId, uploadId } }: ImportClaim): Promise<void> {
    // Where this fails, the upload expires.
    if (uploadId !== null) await this.uploads.abortWithAsset(wholeAccount(accountId), uploadId).catch(() => undefined);
  }
}

function assertSame(part: OriginPart, begun: { upload: ResumableUpload; etag: string | null }): void {
  const isSame = part.totalBytes === begun.upload.sizeBytes && (begun.etag === null || part.etag === begun.etag);
  if (isSame) return;
  discard(part.body);
  throw new ImportError('The file at the source has changed while it was imported.', true);
}

function tooSlow(bytes: number, limitMs: number): ImportError {
  const minutes = Math.round(limitMs / 60_000);
  return new ImportError(`The source is too slow: it did not send ${bytes} bytes in ${minutes} minutes.`, false);
}

function problemOf(error: unknown): string {
  if (error instanceof ImportError || error instanceof Refusal) return error.message;
  return 'The source could not be read, although it was tried many times.';
}
