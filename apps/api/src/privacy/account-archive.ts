import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AccountExports, JOBS_PAGE_BYTES } from '@millrace/privacy';
import { endHead, holdBytes, sendZip, zipHeaders } from '../http';

/** Sends an answer in a place that bounds how many there are. @throws Refusal where there is none. */
export type SendInPlace = (send: () => Promise<void>) => Promise<void>;

/** All that an account has, as one ZIP stream. */
@Injectable()
export class AccountArchive {
  constructor(private readonly exports: AccountExports) {}

  /**
   * Send the archive when it is its turn. A page of it counts with the bodies in memory until it is sent.
   *
   * @param inPlace by default none is taken.
   * @throws Refusal `rate_limited`; what `inPlace` throws.
   */
  async send(
    request: Request,
    response: Response,
    accountId: string,
    inPlace: SendInPlace = (send) => send(),
  ): Promise<void> {
    const headers = zipHeaders(`account-${accountId}.zip`);
    if (endHead(response, headers)) return;
    // A place is taken when the turn has come: those that wait, perhaps for clients that are gone, hold none.
    await this.exports.send(accountId, (files) =>
      inPlace(() => {
        holdBytes(request, JOBS_PAGE_BYTES);
        return sendZip(response, headers, files);
      }),
    );
  }
}
