import type { UploadService } from '@millrace/assets';
import { z } from 'zod';
import type { AssetPresenter } from '../../assets';
import { UploadFileTool } from './upload-file.tool';

it('names the times that an upload may be kept for, as the API takes them', () => {
  const tool = new UploadFileTool({} as UploadService, {} as AssetPresenter, { assetRetentionSeconds: undefined });
  const { properties } = z.toJSONSchema(tool.definition.input);
  expect(properties?.expires_in).toMatchObject({ minimum: 60, maximum: 604_800 });
});
