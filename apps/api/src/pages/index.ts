export { Html, html, prose } from './html';
export { pageStyle } from './page-style';
