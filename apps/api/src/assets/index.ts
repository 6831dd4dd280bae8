export { keptFor } from './kept-for';
export { AssetPresenter } from './asset.presenter';
export { AssetsModule } from './assets.module';
