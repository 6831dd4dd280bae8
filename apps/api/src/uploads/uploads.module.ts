import { Module } from '@nestjs/common';
import { AssetsModule } from '../assets';
import { PartsController } from './parts.controller';
import { UploadPresenter } from './upload.presenter';
import { UploadsController } from './uploads.controller';

/** Large files in parts. */
@Module({
  imports: [AssetsModule],
  controllers: [UploadsController, PartsController],
  providers: [UploadPresenter],
  exports: [UploadPresenter],
})
export class UploadsModule {}
