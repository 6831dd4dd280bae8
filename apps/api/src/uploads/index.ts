export { UploadPresenter } from './upload.presenter';
export { UploadsModule } from './uploads.module';
