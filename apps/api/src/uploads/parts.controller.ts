import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import { AccountStanding } from '@millrace/accounts';
import { LARGEST_PART_BYTES, PartLinks, ResumableUploadService } from '@millrace/assets';
import { Serves, type InputOf } from '../endpoints';
import { arrivingBytes, assertNotEncoded } from '../http';
import { putUploadPart } from './uploads.endpoints';

/** Takes parts where the store has no links of its own: anyone who has the signed link may send the part. */
@Controller()
export class PartsController {
  constructor(
    private readonly links: PartLinks,
    private readonly standing: AccountStanding,
    private readonly uploads: ResumableUploadService,
  ) {}

  @Serves(putUploadPart)
  async receive({ params, request }: InputOf<typeof putUploadPart>): Promise<void> {
    assertNotEncoded(request.headers);
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const accountId = this.links.verify(pathname, searchParams);
    await this.standing.assertActive(accountId);
    // The store bounds each part by its own size: that of new parts may be another one by now.
    const bytes = Readable.from(arrivingBytes(request, LARGEST_PART_BYTES));
    await this.uploads.receive(accountId, params.id, Number(params.number), bytes);
  }
}
