import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { UploadService, readUploadFields } from '@millrace/assets';
import { EXPIRES_IN_SECONDS } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../../api.config';
import { AssetPresenter, keptFor } from '../../assets';
import { holdBytes } from '../../http';
import type { Tool, ToolAnswer, ToolCall } from '../tool';

const definition = {
  name: 'upload_file',
  title: 'Upload a file',
  description:
    'Stores a file, in base64, as an asset that graphs take as input: {"__type": "core/ASSET", "info": {"id": "<id of the answer>"}} in ' +
    'place of a file name. The same bytes under the same name are one asset. Larger files are uploaded by HTTP: POST /api/v2/assets.',
  scope: 'assets:write',
  input: z.strictObject({
    file_path: z.string().min(1).max(1_024).describe('Its name, e.g. cat.png.'),
    content_type: z.string().max(255).describe('Its media type, e.g. image/png.'),
    data: z.base64().describe('Its bytes in base64.'),
    expires_in: z
      .int()
      .min(EXPIRES_IN_SECONDS.min)
      .max(EXPIRES_IN_SECONDS.max)
      .optional()
      .describe('Seconds until it is deleted; by default as the service keeps uploads.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
} as const;

/** Uploads a small file, on the terms of every upload. */
@Injectable()
export class UploadFileTool implements Tool<typeof definition> {
  readonly definition = definition;

  constructor(
    private readonly uploads: UploadService,
    private readonly presenter: AssetPresenter,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'assetRetentionSeconds'>,
  ) {}

  async run(input: z.output<typeof definition.input>, { visitor, request, signal }: ToolCall): Promise<ToolAnswer> {
    const { caller, surface } = visitor;
    const { accountId, sharedUploads } = caller;
    const { uploadBytesPerDay, storageBytes } = caller.limits;
    const { data, ...raw } = input;
    const fields = keptFor(caller, readUploadFields(raw), this.settings);
    const bytes = Buffer.from(data, 'base64');
    holdBytes(request, bytes.length);
    const declaredBytes = bytes.length;
    await this.uploads.admit(accountId, { declaredBytes, idempotencyKey: undefined });
    const terms = { uploadBytesPerDay, storageBytes, sharedUploads, declaredBytes, signal };
    const staged = await this.uploads.stage(accountId, Readable.from([bytes]), terms);
    const { asset, createdNew } = await this.uploads.commit(accountId, staged, fields, {
      uploadBytesPerDay,
      sharedUploads,
    });
    return { value: this.presenter.present(surface, asset, createdNew) };
  }
}
