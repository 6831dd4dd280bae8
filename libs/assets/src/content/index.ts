export { ContentLinks, type LinkBase } from './content-links';
export { ContentService } from './content.service';
