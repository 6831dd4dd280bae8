import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AccountExports } from '@millrace/privacy';
import { sendZip } from '../http';

/** All that an account has, as one ZIP stream. */
@Injectable()
export class AccountArchive {
  constructor(private readonly exports: AccountExports) {}

  /** @throws Refusal `rate_limited`. */
  async send(request: Request, response: Response, accountId: string): Promise<void> {
    await this.exports.send(accountId, async (files) => {
      response.setHeader('Content-Type', 'application/zip');
      response.setHeader('Content-Disposition', `attachment; filename="account-${accountId}.zip"`);
      if (request.method === 'HEAD') {
        response.end();
        return;
      }
      await sendZip(response, async (add) => {
        for await (const { path, body, at } of files) await add({ path, body, mtime: at });
      });
    });
  }
}
