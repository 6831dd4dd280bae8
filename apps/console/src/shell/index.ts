export { ErrorDocsLink, StatusLink } from './error-links';
export { RouteError } from './route-error';
export { NotFound, Start } from './route-fallbacks';
export { Shell } from './shell';
export { applyTheme } from './theme';
