import type { PartLinks, PartState, ResumableUpload } from '@millrace/assets';
import type { ResumableUploadView } from '@millrace/contracts';
import type { Surface } from '../http/surface';

/** What a resumable upload looks like on the wire. */
export class UploadPresenter {
  /** @param linkSeconds how long links to parts work. */
  constructor(
    private readonly links: PartLinks,
    private readonly linkSeconds: number,
  ) {}

  present(surface: Surface, upload: ResumableUpload, parts: PartState[]): ResumableUploadView {
    const self = `${surface.prefix}/api/v2/uploads/${upload.id}`;
    const { accountId, id: uploadId } = upload;
    const until = new Date(Math.floor(Date.now() / 1000 + this.linkSeconds) * 1000);
    const urlOf = ({ number, link }: PartState): string =>
      link ?? this.links.to(surface.origin, { accountId, uploadId, number }, until);
    return {
      id: uploadId,
      size_bytes: upload.sizeBytes,
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
