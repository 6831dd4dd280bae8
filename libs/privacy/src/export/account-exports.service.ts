import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { BlobStoreError, type ContentService } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import { EXPORT_NAMES, type AccountExportStore, type ExportName, type ExportedOutput } from './account-export.store';

/** Records, and jobs of which the outputs are read, that are in memory at a time. */
const PAGE = 200;
const JOBS_PAGE = 20;
/** Archives of one account that are written at a time. */
const ARCHIVES_AT_A_TIME = 1;
const NAME_LENGTH = 200;

/** A file of an archive, to be read to its end before the next one is asked for. */
export interface ExportedFile {
  path: string;
  body: Readable;
  mtime: Date;
}

/** What the manifest says of a file of records. */
interface Written {
  path: string;
  records: number;
  size_bytes: number;
  /** `sha256:<hex>`. */
  hash: string;
}

/**
 * All that an account has, as the files of an archive: records as NDJSON, the outputs of its ended jobs as they are, and a manifest with
 * what is needed to check it. It is read while it is written, page by page, so that memory stays flat; what changes meanwhile may be in one
 * file and not yet in another.
 */
export class AccountExports {
  private readonly turns = new Turns(ARCHIVES_AT_A_TIME, 'archives');

  constructor(
    private readonly database: Statements,
    private readonly store: AccountExportStore,
    private readonly content: Pick<ContentService, 'openInput'>,
  ) {}

  /** Have the archive written. @param write takes the files one after the other. @throws Refusal `rate_limited`. */
  async send(accountId: string, write: (files: AsyncIterable<ExportedFile>) => Promise<void>): Promise<void> {
    await this.turns.run(accountId, () => write(this.files(accountId)));
  }

  private async *files(accountId: string): AsyncGenerator<ExportedFile> {
    const written: Written[] = [];
    for (const name of EXPORT_NAMES) {
      yield this.recordsFile(`${name}.ndjson`, this.lines(accountId, name), written);
    }
    for await (const output of this.outputs(accountId)) {
      const body = await this.open(accountId, output);
      if (body !== null) yield { path: pathOf(output), body, mtime: output.at };
    }
    yield this.recordsFile('outputs.ndjson', this.outputLines(accountId), written);
    const manifest = { account_id: accountId, written_at: new Date().toISOString(), files: written };
    const body = Readable.from([`${JSON.stringify(manifest, null, 2)}\n`]);
    yield { path: 'manifest.json', body, mtime: new Date() };
  }

  /** Notes in `written` what it came to, once it was read to its end. */
  private recordsFile(path: string, lines: AsyncIterable<string>, written: Written[]): ExportedFile {
    const hash = createHash('sha256');
    const file = { path, records: 0, size_bytes: 0 };
    const body = async function* (): AsyncGenerator<Buffer> {
      for await (const line of lines) {
        const bytes = Buffer.from(`${line}\n`);
        hash.update(bytes);
        file.records += 1;
        file.size_bytes += bytes.length;
        yield bytes;
      }
      written.push({ ...file, hash: `sha256:${hash.digest('hex')}` });
    };
    return { path, body: Readable.from(body(), { objectMode: true, highWaterMark: 1 }), mtime: new Date() };
  }

  private async *lines(accountId: string, name: ExportName): AsyncGenerator<string> {
    for (let after: string | null = null; ;) {
      const page: { line: string; place: string }[] = await this.store.page(this.database, name, {
        accountId,
        after,
        limit: PAGE,
      });
      for (const { line } of page) yield line;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.place;
    }
  }

  private async *outputs(accountId: string): AsyncGenerator<ExportedOutput> {
    for (let after: string | null = null; ;) {
      const jobIds: string[] = await this.store.jobIds(this.database, { accountId, after, limit: JOBS_PAGE });
      yield* await this.store.outputs(this.database, { accountId, jobIds, limit: JOBS_PAGE });
      const last = jobIds.at(-1);
      if (last === undefined || jobIds.length < JOBS_PAGE) return;
      after = last;
    }
  }

  /** Read again from the jobs: the list of a million outputs is not kept in memory. */
  private async *outputLines(accountId: string): AsyncGenerator<string> {
    for await (const output of this.outputs(accountId)) {
      const { assetId, jobId, hash, sizeBytes, contentType } = output;
      const record = { path: pathOf(output), job_id: jobId, asset_id: assetId, hash, size_bytes: sizeBytes };
      yield JSON.stringify({ ...record, content_type: contentType });
    }
  }

  /** @returns null when the bytes are gone. */
  private async open(accountId: string, { assetId }: ExportedOutput): Promise<Readable | null> {
    try {
      return (await this.content.openInput(accountId, assetId)).body;
    } catch (error) {
      if (error instanceof Refusal || (error instanceof BlobStoreError && error.fault === 'missing')) return null;
      throw error;
    }
  }
}

/** `outputs/<job>/<asset>-<name>`: no path leads out of its folder, and no two are the same. */
function pathOf({ jobId, assetId, name }: ExportedOutput): string {
  const safe = name.replaceAll(/[^\p{L}\p{N}._-]/gu, '_').slice(-NAME_LENGTH);
  return `outputs/${jobId}/${assetId}-${safe}`;
}
