import { Inject, Injectable } from '@nestjs/common';
import { PartLinks, type PartState, type ResumableUpload } from '@millrace/assets';
import type { ResumableUploadView } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import type { Surface } from '../http';

/** What a resumable upload looks like on the wire. */
@Injectable()
export class UploadPresenter {
  constructor(
    private readonly links: PartLinks,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'signedUrlSeconds'>,
  ) {}

  present(surface: Surface, upload: ResumableUpload, parts: PartState[]): ResumableUploadView {
    const self = `${surface.prefix}/api/v2/uploads/${upload.id}`;
    const { accountId, id: uploadId } = upload;
    const until = new Date(Math.floor(Date.now() / 1000 + this.settings.signedUrlSeconds) * 1000);
    const urlOf = ({ number, link }: PartState): string =>
      link ?? this.links.to(surface.origin, { accountId, uploadId, number }, until);
    return {
      id: uploadId,
      size_bytes: upload.sizeBytes,
      expected_hash: upload.fields.expectedHash,
      part_size_bytes: upload.partBytes,
      parts: parts.map((part) => ({
        number: part.number,
        size_bytes: part.sizeBytes,
        received: part.received,
        url: part.received ? null : urlOf(part),
      })),
      url_expires_at: until.toISOString(),
      created_at: upload.createdAt.toISOString(),
      expires_at: upload.expiresAt.toISOString(),
      urls: { self, complete: `${self}/complete` },
    };
  }
}
