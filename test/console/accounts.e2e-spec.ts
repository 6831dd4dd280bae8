import { bucket } from './suites/bucket';
import { deployments } from './suites/deployments';
import { docs } from './suites/docs';
import { keys } from './suites/keys';
import { members } from './suites/members';
import { signIn } from './suites/sign-in';
import { ConsoleStack } from './support/console-stack';
import { TestBucket } from './support/test-bucket';
import { TestMails } from './support/test-mails';

const store = new TestBucket();
const mails = new TestMails();
const shared = new ConsoleStack({
  workers: 0,
  settings: { ...store.settings, ...mails.settings, MILLRACE_UPLOAD_PART_BYTES: '5242880' },
});

deployments(shared);
keys(shared);
signIn(shared);
members(shared, mails);
docs(shared);
bucket(shared, store);
