export { DocsScreen } from './docs-screen';
