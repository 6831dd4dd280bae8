export { type ContentRequest } from './content-answer';
export { ContentLinks, SIGNED_CONTENT_PATH, type ContentLink, type LinkBase } from './content-links';
export { ContentService, type ContentAnswer } from './content.service';
