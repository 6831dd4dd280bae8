export { exactWorkOf, type ExactWork } from './exact-work';
export { JobReuse, notFound, type ReuseOutcome } from './reuse.service';
export { ReuseStore } from './reuse.store';
