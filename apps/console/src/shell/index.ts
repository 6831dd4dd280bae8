export { ErrorDocsLink } from './error-docs-link';
export { RouteError } from './route-error';
export { NotFound, Start } from './route-fallbacks';
export { Shell } from './shell';
export { StatusLink } from './status-link';
export { applyTheme } from './theme';
