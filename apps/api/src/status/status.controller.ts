import { Controller } from '@nestjs/common';
import { sendText } from '@millrace/platform';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { STATUS_POLICY, statusPage } from './status-page';
import { getStatus, getStatusPage } from './status.endpoints';
import { presentStatus } from './status.presenter';
import { StatusService } from './status.service';

/** Browsers and what stands before the service may keep an answer for so long. */
const CACHE = 'public, max-age=15';

/** How the service does, to anyone. */
@Controller()
export class StatusController {
  constructor(private readonly status: StatusService) {}

  @Serves(getStatus)
  async read({ response }: InputOf<typeof getStatus>): Promise<AnswerOf<typeof getStatus>> {
    response.setHeader('Cache-Control', CACHE);
    return presentStatus(await this.status.read());
  }

  @Serves(getStatusPage)
  async page({ response }: InputOf<typeof getStatusPage>): Promise<void> {
    const page = statusPage(await this.status.read(), this.status.isKept);
    response.set({ 'Cache-Control': CACHE, 'Content-Security-Policy': STATUS_POLICY });
    await sendText(response, 'text/html; charset=utf-8', [page]);
  }
}
