export { ErrorDocsLink } from './error-docs-link';
export { NotFound, RouteError } from './route-fallbacks';
export { Shell } from './shell';
export { applyTheme } from './theme';
