import { Module } from '@nestjs/common';
import { AssetPresenter } from './asset.presenter';
import { AssetsController } from './assets.controller';
import { ContentController } from './content.controller';
import { ContentSender } from './content-sender';

/** Assets and their bytes. */
@Module({
  controllers: [AssetsController, ContentController],
  providers: [AssetPresenter, ContentSender],
  exports: [AssetPresenter],
})
export class AssetsModule {}
