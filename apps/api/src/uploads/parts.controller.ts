import { Readable } from 'node:stream';
import { Controller, Inject } from '@nestjs/common';
import { AccountStanding } from '@millrace/accounts';
import { PartLinks, ResumableUploadService } from '@millrace/assets';
import { API_SETTINGS, type ApiSettings } from '../api.config';
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
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'uploadPartBytes'>,
  ) {}

  @Serves(putUploadPart)
  async receive({ params, request }: InputOf<typeof putUploadPart>): Promise<void> {
    assertNotEncoded(request.headers);
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const accountId = this.links.verify(pathname, searchParams);
    await this.standing.assertActive(accountId);
    const bytes = Readable.from(arrivingBytes(request, this.settings.uploadPartBytes));
    await this.uploads.receive(accountId, params.id, Number(params.number), bytes);
  }
}
