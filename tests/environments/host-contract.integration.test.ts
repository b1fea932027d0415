import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { createHostEnvironment } from '../../src/environments/host.ts';
import { environmentContract } from './contract-suite.ts';
import { makeDirectory } from './test-session.ts';

let root = '';
beforeEach(async () => {
  root = join(await makeDirectory(), 'sessions');
});

environmentContract({
  kind: 'host',
  isolated: false,
  skip: null,
  make: () => Promise.resolve(createHostEnvironment({ root, hostId: 'here', installationId: 'test' })),
});
