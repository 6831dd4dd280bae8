import { Injectable } from '@nestjs/common';
import { ContentLinks, type AssetRecord } from '@millrace/assets';
import type { Asset } from '@millrace/contracts';
import type { Surface } from '../http';

/** What an asset looks like on the wire (wire supplement, section 1). */
@Injectable()
export class AssetPresenter {
  constructor(private readonly links: ContentLinks) {}

  /** @param createdNew only answers that create say whether the bytes were new. */
  present(surface: Surface, asset: AssetRecord, createdNew?: boolean): Asset {
    const link = this.links.toContent(surface, asset);
    return {
      id: asset.id,
      hash: asset.blob.hash,
      size_bytes: asset.blob.sizeBytes,
      content_type: asset.contentType,
      file_path: asset.filePath,
      ...(createdNew === undefined ? {} : { created_new: createdNew }),
      created_at: asset.createdAt.toISOString(),
      url: link.url,
      url_expires_at: link.expiresAt.toISOString(),
      expires_at: asset.expiresAt?.toISOString() ?? null,
      tags: asset.tags,
      ...(asset.jobId === null ? {} : { job_id: asset.jobId }),
    };
  }
}
