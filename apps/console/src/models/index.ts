export { ModelsPage } from './models-page';
