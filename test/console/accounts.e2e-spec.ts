import { bucket } from './suites/bucket';
import { deployments } from './suites/deployments';
import { docs } from './suites/docs';
import { keys } from './suites/keys';
import { signIn } from './suites/sign-in';
import { ConsoleStack } from './support/console-stack';
import { TestBucket } from './support/test-bucket';

const store = new TestBucket();
const shared = new ConsoleStack({
  workers: 0,
  settings: { ...store.settings, MILLRACE_UPLOAD_PART_BYTES: '5242880' },
});

deployments(shared);
keys(shared);
signIn(shared);
docs(shared);
bucket(shared, store);
