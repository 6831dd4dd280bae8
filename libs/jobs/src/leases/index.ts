export { EndLeasesOfGoneWorkersLoop } from './end-leases-of-gone-workers.loop';
