export { ContentLinks } from './content-links';
export { ContentService } from './content.service';
